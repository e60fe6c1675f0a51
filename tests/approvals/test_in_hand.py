"""Who reads a decision, to whom it is handed, and what is answered together."""

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction

from approvals.ledger import batching, claiming, handing_over, striking
from approvals.ledger.batching import NotTogether
from approvals.ledger.claiming import CLAIM_FOR, ClaimedByOther, NotClaimed
from approvals.ledger.handing_over import MayNotAnswer
from approvals.ledger.holding import DecisionClosed
from approvals.models import Batch, BatchItem, Claim, Decision, Ground, Vote
from approvals.queries import alike
from approvals.queries.people import deciders
from approvals.queries.statistics import statistics
from approvals.rules.door import NotYours
from approvals.tasks import BATCHES
from runs.engine.ordered import Ordered
from runs.models import Message
from runs.queries.clock import db_now
from runs.queries.verify import violations
from runs.rules import canonical
from runs.rules.hearing import Hearing
from runs.testing.clock import Clock
from tests.approvals import workflows
from tests.approvals.builders import (
    a_decision,
    a_person,
    acting,
    again,
    asked_by,
    cancel,
    decide,
)
from tests.approvals.reading import at, signed_in, text_of
from tests.support import runs
from tests.telling.builders import a_row

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def clock() -> Iterator[Clock]:
    workflows.SENT.clear()
    with Clock() as clock:
        yield clock


def shown(*decisions: Decision) -> dict[int, str]:
    return {each.pk: each.digest for each in decisions}


def begin(actor: object, decisions: list[Decision], option: str = "approve") -> Batch:
    return batching.begin(
        actor,  # type: ignore[arg-type]
        shown=shown(*decisions),
        option=option,
        fields={},
        comment="All small.",
    )


def test_while_somebody_reads_it_nobody_else_claims_it_and_is_told_who() -> None:
    decision = a_decision()
    claiming.claim(acting(a_person()), decision.pk)

    with pytest.raises(ClaimedByOther, match="mara reads it until"):
        claiming.claim(acting(a_person("max")), decision.pk)

    assert Claim.objects.get().by == "mara"
    first = Claim.objects.get()
    with pytest.raises(IntegrityError), transaction.atomic():
        Claim.objects.create(decision=decision, by="max", at=first.at, until=first.until)


def test_a_claim_ends_by_itself_and_may_be_made_longer(clock: Clock) -> None:
    decision, mara = a_decision(), acting(a_person())
    claiming.claim(mara, decision.pk)
    clock.advance(CLAIM_FOR / 2)
    claiming.claim(mara, decision.pk)
    clock.advance(CLAIM_FOR / 2)
    with pytest.raises(ClaimedByOther):
        claiming.claim(acting(a_person("max")), decision.pk)

    clock.advance(CLAIM_FOR / 2)
    claiming.claim(acting(a_person("ann")), decision.pk)

    assert list(Claim.objects.order_by("pk").values_list("by", flat=True)) == ["mara", "ann"]
    with pytest.raises(NotClaimed):
        claiming.release(mara, decision.pk)


def test_a_claim_keeps_nobody_from_answering() -> None:
    decision = a_decision()
    claiming.claim(acting(a_person()), decision.pk)

    assert decide(acting(a_person("max")), decision).state == "approved"


def test_who_may_not_answer_may_not_claim_and_what_is_closed_is_claimed_by_nobody() -> None:
    decision = a_decision()
    with pytest.raises(NotYours):
        claiming.claim(acting(a_person("olga", groups=["bankers"])), decision.pk)

    cancel(decision)

    with pytest.raises(DecisionClosed):
        claiming.claim(acting(a_person()), decision.pk)


def test_whoever_it_is_handed_to_is_told_and_the_claim_is_over() -> None:
    a_person("max", email="max@example.com")
    decision, mara = a_decision(), acting(a_person())
    claiming.claim(mara, decision.pk)

    handing_over.hand_over(mara, decision.pk, person="max", because="you know them")

    message = Message.objects.get(kind="decision.handed_over")
    assert canonical.loads(message.payload)["to"] == ["max@example.com"]
    assert Claim.objects.get().ended_at is not None


def test_who_hands_over_reads_who_is_told_who_is_not_and_why() -> None:
    a_person("max", email="max@example.com"), a_person("olga")
    decision, mara = a_decision(), signed_in(a_person())

    page = mara.get(at(decision)).text
    told = {
        to: text_of(mara.post(at(decision, "handovers/"), {"to": to}, follow=True))
        for to in ("person:max", "person:olga", "group:approvers")
    }
    a_row("ops")
    through = text_of(mara.post(at(decision, "handovers/"), {"to": "person:olga"}, follow=True))

    assert "olga (no mail address)" in page
    assert "max (no mail address)" not in page
    assert "Handed to max. Told by mail: max." in told["person:max"]
    untold = "Not told by mail, as no address is entered: olga."
    assert f"Handed to olga. Nobody is told. {untold}" in told["person:olga"]
    both = "Told by mail: max. Not told by mail, as no address is entered: olga, mara."
    assert f"Handed to approvers. {both}" in told["group:approvers"]
    assert f"Handed to olga. Told through the channel ops. {untold}" in through


@pytest.mark.one_database
def test_what_does_not_arrive_is_not_said_to() -> None:
    heard = Hearing(
        named="“bankers”",
        mailed=[],
        without_address=[],
        beyond=False,
        channels=[],
        dead=["ops"],
        mail_leaves=True,
    )
    few = replace(heard, mailed=["a"], beyond=True, mail_leaves=False)

    assert heard.sentence == (
        "Nobody is told. Does not arrive at present: ops. There is nobody in “bankers”."
    )
    assert few.sentence.startswith("Told by mail: a and no more. No mail leaves from here")


def test_it_is_handed_to_nobody_who_may_not_answer_it() -> None:
    a_person("olga", groups=["bankers"])
    decision, mara = a_decision(), acting(a_person())

    with pytest.raises(MayNotAnswer, match="Who may: mara"):
        handing_over.hand_over(mara, decision.pk, person="olga")
    with pytest.raises(MayNotAnswer, match="The groups that may: “approvers”"):
        handing_over.hand_over(mara, decision.pk, group="bankers")
    anybodys = a_decision("question")
    with pytest.raises(MayNotAnswer, match="Nobody of “typists”"):
        handing_over.hand_over(mara, anybodys.pk, group="typists")
    assert handing_over.hand_over(mara, anybodys.pk, group="bankers").to_group == "bankers"

    may = deciders(tenant_id=decision.tenant_id, groups=["approvers"])
    assert [person.username for person in may] == ["mara"]


def test_others_see_who_reads_it_on_the_page_in_the_list_and_among_those_in_hand() -> None:
    decision = a_decision()
    mara, max_ = signed_in(a_person()), signed_in(a_person("max"))
    assert mara.post(at(decision, "claims/")).status_code == 302

    told = mara.post(at(decision, "claims/")), max_.post(at(decision, "claims/"))

    assert [answer.status_code for answer in told] == [302, 409]
    assert "mara reads it until" in text_of(max_.get(at(decision)))
    lists = [text_of(max_.get(f"/decisions/?tab={tab}")) for tab in ("mine", "reading")]
    assert any("mara reads it" in listed for listed in lists)
    assert "mara reads it until" in text_of(max_.get("/decisions/claimed/"))
    mara.get(at(decision))
    released = mara.post(at(decision, "releases/"), follow=True).text
    assert f'action="{at(decision, "claims/")}"' in released.split("Undo</button>")[0]
    assert "Nobody reads it at present" in text_of(max_.get(at(decision)))
    claimed = mara.post(at(decision, "claims/"), {"back": "claimed"}, follow=True).text
    undo = claimed.split("Undo</button>")[0]
    assert f'action="{at(decision, "releases/")}"' in undo
    assert 'name="back" value="claimed"' in undo


def test_it_is_handed_over_and_taken_back_by_page() -> None:
    decision = a_decision("two_agree")
    person, max_ = a_person(), signed_in(a_person("max"))
    decide(acting(person), decision)
    mara = signed_in(person)

    handed = max_.post(at(decision, "handovers/"), {"to": "group:approvers", "because": "yours"})
    back = mara.post(at(decision, "withdrawals/"), {"because": "not yet"})

    assert (handed.status_code, back.status_code) == (302, 302)
    assert "max handed it to approvers" in text_of(mara.get(at(decision)))
    assert mara.post(at(decision, "withdrawals/")).status_code == 409
    assert Vote.objects.get().void_because == "taken back: not yet"


def test_alike_decisions_are_answered_together_each_bound_to_its_own_digest(clock: Clock) -> None:
    decisions = [a_decision("refunds", amounts=amounts) for amounts in ("1", "2 3", "4")]
    mara = acting(a_person())

    batch = begin(mara, decisions[:2])
    Ordered(BATCHES).go_round()
    runs.drain()

    assert [again(each).state for each in decisions] == ["approved", "approved", "open"]
    assert sorted(vote.digest for vote in Vote.objects.all()) == sorted(
        each.digest for each in decisions[:2]
    )
    assert {vote.door for vote in Vote.objects.all()} == {"batch"}
    batch.refresh_from_db()
    assert (batch.state, alike.counts_of(batch)["answered"]) == ("done", 2)
    assert violations([each.run_id for each in decisions]) == []


def test_what_was_struck_off_is_not_among_the_calls_that_are_shown_to_be_made() -> None:
    first, other = (a_decision("refunds", amounts="1 2") for _ in range(2))
    mara = acting(a_person())
    striking.strike(mara, first.pk, ordinals=[1], struck=True)

    shown_of = {each.decision.pk: each.calls for each in alike.group_of(mara, other.pk).members}

    assert [len(shown_of[each.pk]) for each in (first, other)] == [1, 2]
    assert shown_of[first.pk][0].resource == "refunds-2"


def test_one_that_changed_or_closed_meanwhile_is_passed_by_and_says_why(clock: Clock) -> None:
    decisions = [a_decision("refunds", amounts="1 2") for _ in range(3)]
    batch = begin(acting(a_person()), decisions)
    cancel(decisions[0])
    striking.strike(acting(a_person("max")), decisions[1].pk, ordinals=[1], struck=True)

    Ordered(BATCHES).go_round()

    told = {item.decision_id: (item.outcome, item.told) for item in BatchItem.objects.all()}
    assert told[decisions[0].pk][0] == told[decisions[1].pk][0] == "passed"
    assert "Already withdrawn" in told[decisions[0].pk][1]
    assert "Shown was" in told[decisions[1].pk][1]
    assert [again(each).state for each in decisions] == ["withdrawn", "open", "approved"]
    batch.refresh_from_db()
    assert batch.state == "done"


def test_one_whose_ground_moved_meanwhile_is_asked_anew_and_the_batch_names_the_new_one(
    clock: Clock,
) -> None:
    decisions = [a_decision("refunds") for _ in range(2)]
    begin(acting(a_person()), decisions)
    ground = Ground.objects.get(decision=decisions[0])
    facts = canonical.loads(ground.facts) | {"its generation": 7}
    Ground.objects.filter(pk=ground.pk).update(facts=canonical.dumps(facts))

    Ordered(BATCHES).go_round()

    told = BatchItem.objects.get(decision=decisions[0])
    new = asked_by(decisions[0].run_id)
    assert [again(each).state for each in decisions] == ["superseded", "approved"]
    assert (told.outcome, f"decision {new.pk} asks anew" in told.told) == ("passed", True)
    assert violations([each.run_id for each in decisions]) == []


def test_a_batch_that_was_stopped_leaves_the_rest_open(clock: Clock) -> None:
    decisions = [a_decision("refunds") for _ in range(2)]
    mara = acting(a_person())
    batch = begin(mara, decisions)
    assert batching.answer(mara, BatchItem.objects.order_by("pk")[0].pk)

    batching.stop(mara, batch.pk)
    Ordered(BATCHES).go_round()

    assert [again(each).state for each in decisions] == ["approved", "open"]
    assert alike.counts_of(batch) == {"answered": 1, "passed": 0, "refused": 0, "left": 1}


def test_what_cannot_be_undone_and_what_is_not_alike_is_never_answered_together() -> None:
    payments = [a_decision("payments", count=1) for _ in range(2)]
    refunds, question = a_decision("refunds"), a_decision("question")
    mara = acting(a_person())

    for decisions in (payments, [refunds, question], []):
        with pytest.raises(NotTogether):
            begin(mara, decisions)

    assert {each.shape for each in payments} == {""}
    assert not Batch.objects.exists()


def test_what_somebody_lost_the_right_to_answer_meanwhile_is_not_answered_in_their_name() -> None:
    person = a_person()
    decisions = [a_decision("refunds") for _ in range(2)]
    begin(acting(person), decisions)
    person.user_permissions.clear()

    Ordered(BATCHES).go_round()

    assert {item.outcome for item in BatchItem.objects.all()} == {"refused"}
    assert not Vote.objects.exists()


def test_the_page_shows_all_of_them_with_nothing_ticked_and_answers_those_that_are() -> None:
    decisions = [a_decision("refunds", amounts=amounts) for amounts in ("7", "8")]
    mara = signed_in(a_person())
    address = at(decisions[0], "alike/")
    page = mara.get(address).content.decode()

    assert "checked" not in page
    assert page.count('name="decision"') == 2
    assert "&quot;amount&quot;:7" in page
    assert mara.post(at(decisions[0], "batches/"), {"option": "approve"}).status_code == 422
    sent = _ticked(page, decisions)
    answer = mara.post(at(decisions[0], "batches/"), sent | {"option": "approve"}, follow=True)
    assert "2 are left." in text_of(answer)
    Ordered(BATCHES).go_round()
    batch = Batch.objects.get()
    assert "2 answered, 0 passed by" in text_of(mara.get(f"/decisions/batches/{batch.pk}/"))


def _ticked(page: str, decisions: list[Decision]) -> dict[str, object]:
    digests = dict(re.findall(r'name="(digest-\d+)" value="(\w+)"', page))
    return {"decision": [each.pk for each in decisions], **digests}


def test_nobody_of_another_tenant_finds_any_of_it() -> None:
    decisions = [a_decision("refunds") for _ in range(2)]
    batch = begin(acting(a_person()), decisions)
    stranger = signed_in(a_person("stranger", tenant="elsewhere"))

    seen = [
        stranger.get(f"/decisions/batches/{batch.pk}/"),
        stranger.post(f"/decisions/batches/{batch.pk}/stops/"),
        stranger.get(at(decisions[0], "alike/")),
        stranger.get("/decisions/rules/1/"),
        *[
            stranger.post(at(decisions[0], f"{name}/"))
            for name in ("claims", "releases", "handovers", "withdrawals")
        ],
    ]

    assert {answer.status_code for answer in seen} == {404}


def test_waiting_times_are_told_by_workflow_and_by_group(clock: Clock) -> None:
    mara = acting(a_person())
    for hours in (1, 2, 3):
        decision = a_decision("refunds")
        clock.advance(CLAIM_FOR * 6 * hours)
        decide(mara, decision)
    cancel(a_decision("question", group="bankers"))

    found = statistics(mara, since=db_now() - timedelta(days=1))
    page = text_of(signed_in(a_person("max")).get("/decisions/statistics/"))

    rows = {row.name: row for row in (*found.workflows, *found.groups)}
    refunds, bankers = rows["refunds"], rows["bankers"]
    half_and_most = [round((each or 0) / 3600) for each in (refunds.waited.p50, refunds.waited.p90)]
    assert (half_and_most, list(refunds.ended)) == ([2, 3], [("approved", 3)])
    assert (bankers.waited.amount, list(bankers.ended)) == (0, [("withdrawn", 1)])
    assert rows["approvers"].waited == refunds.waited
    assert "Of the 4 decisions that were closed in the last 30 days" in page
    assert "1 withdrawn" in page
