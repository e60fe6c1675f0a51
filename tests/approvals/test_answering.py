"""One answer, bound to what was shown, and the run follows it."""

import pytest

from approvals.ledger import striking
from approvals.ledger.deciding import CommentMissing, NothingLeft
from approvals.ledger.holding import DecisionChanged, DecisionClosed, DecisionExpired
from approvals.models import Decision, Vote
from approvals.rules.asked import NoSuchOption
from approvals.rules.schema import FieldsRefused
from runs.ledger import replaying
from runs.models import AuditEvent, Message, PlannedCall
from runs.rules import canonical
from runs.rules.planned import list_digest
from tests.approvals import workflows
from tests.approvals.builders import (
    COMMENT,
    a_decision,
    a_person,
    acting,
    again,
    cancel,
    decide,
)
from tests.support import runs

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _nothing_was_sent() -> None:
    workflows.SENT.clear()


def test_a_parked_run_opens_a_decision_that_says_what_it_is_about() -> None:
    decision = a_decision()

    assert (decision.kind, decision.state, decision.count) == ("plan", "open", 3)
    assert decision.question == "May step settle make 3 calls of shop.pay?"
    assert decision.irreversible
    assert [one.group for one in decision.audience.all()] == ["approvers"]
    assert decision.on_expiry == "cancel"


def test_an_approved_list_is_made_and_nothing_else() -> None:
    mara = acting(a_person())
    decision = a_decision()

    decided = decide(mara, decision)
    runs.drain()

    assert decided.state == "approved"
    assert runs.facts_of(decision.run_id)["paid"] == {"confirmed": 3, "refused": 0, "struck_off": 0}
    assert runs.state_of(decision.run_id) == "succeeded"


def test_what_is_struck_off_is_not_sent() -> None:
    mara = acting(a_person())
    decision = a_decision()
    striking.strike(mara, decision.pk, ordinals=[2], struck=True)

    decide(mara, decision)
    runs.drain()

    assert [to for _, to in workflows.SENT] == ["invoice-1", "invoice-3"]
    assert runs.facts_of(decision.run_id)["paid"]["struck_off"] == 1
    assert again(decision).approved_digest == list_digest(
        PlannedCall.objects.exclude(ordinal=2).order_by("ordinal").values_list("digest", flat=True)
    )


def test_what_is_put_back_is_sent_after_all() -> None:
    mara = acting(a_person())
    decision = a_decision()
    striking.strike(mara, decision.pk, ordinals=[2], struck=True)
    striking.strike(mara, decision.pk, ordinals=[2], struck=False)

    decide(mara, decision)
    runs.drain()

    assert len(workflows.SENT) == 3
    assert again(decision).approved_digest == decision.digest


def test_a_list_of_which_everything_is_struck_off_cannot_be_approved() -> None:
    mara = acting(a_person())
    decision = a_decision()
    striking.strike(mara, decision.pk, ordinals=[1, 2, 3], struck=True)

    with pytest.raises(NothingLeft):
        decide(mara, decision)


def test_a_rejected_list_ends_the_run_and_nothing_is_sent() -> None:
    mara = acting(a_person())
    decision = a_decision()

    decided = decide(mara, decision, "reject", comment="")
    runs.drain()

    assert decided.state == "rejected"
    assert runs.state_of(decision.run_id) == "cancelled"
    assert not workflows.SENT


def test_the_loser_is_told_who_was_first_and_when() -> None:
    decision = a_decision()
    decide(acting(a_person("ann")), decision)

    with pytest.raises(DecisionClosed, match=r"^Already approved by ann at 20\d\d-.* UTC\."):
        decide(acting(a_person("ben")), decision, "reject")

    assert again(decision).closed_by == "ann"
    assert Vote.objects.count() == 1


def test_a_digest_that_was_not_shown_is_refused_and_nothing_is_recorded() -> None:
    """R16: a vote binds the digest that was shown; a call that is struck off makes it another one."""
    ann, ben = acting(a_person("ann")), acting(a_person("ben"))
    decision = a_decision()
    striking.strike(ben, decision.pk, ordinals=[1], struck=True)

    with pytest.raises(DecisionChanged) as changed:
        decide(ann, decision, shown_digest=decision.digest)

    assert changed.value.now == again(decision).digest
    assert again(decision).state == "open"
    assert not Vote.objects.exists()


def test_a_replay_supersedes_what_was_asked_about_the_list_of_before() -> None:
    """R3"""
    mara = acting(a_person())
    decision = a_decision()

    replaying.replay(runs.the_operator(), decision.run_id, checkpoint=0, because="anew")
    with pytest.raises(DecisionClosed):
        decide(mara, decision)
    runs.drain()

    assert again(decision).state == "superseded"
    assert Decision.objects.get(run=decision.run_id, state="open").generation == 2


def test_bytes_that_were_altered_behind_the_digest_cannot_be_approved_but_rejected() -> None:
    mara = acting(a_person())
    decision = a_decision()
    row = PlannedCall.objects.get(ordinal=2)
    PlannedCall.objects.filter(pk=row.pk).update(request=row.request.replace("200", "900"))

    with pytest.raises(DecisionChanged) as changed:
        decide(mara, decision)

    assert changed.value.altered == (2,)
    assert decide(mara, decision, "reject").state == "rejected"


def test_an_ask_that_was_altered_binds_nobody() -> None:
    mara = acting(a_person())
    decision = a_decision("one_call")
    Decision.objects.update(ask=decision.ask.replace('"amount":7', '"amount":9'))

    with pytest.raises(DecisionChanged):
        decide(mara, decision)


def test_what_cannot_be_undone_takes_a_comment() -> None:
    mara = acting(a_person())
    decision = a_decision()

    with pytest.raises(CommentMissing):
        decide(mara, decision, comment="  ")

    assert again(decision).state == "open"


def test_an_option_that_is_not_offered_is_refused() -> None:
    with pytest.raises(NoSuchOption, match="it offers: approve, reject"):
        decide(acting(a_person()), a_decision(), "yes")


def test_one_call_is_sent_with_exactly_the_bytes_that_were_approved() -> None:
    mara = acting(a_person())
    decision = a_decision("one_call")
    shown = canonical.loads(decision.ask)["call"]

    decide(mara, decision)
    runs.drain()

    assert decision.digest == shown["digest"]
    assert [(shown["key"], workflows.TRICKY)] == workflows.SENT
    assert runs.state_of(decision.run_id) == "succeeded"


def test_the_answer_to_a_question_reaches_the_step() -> None:
    mara = acting(a_person())
    decision = a_decision("question")

    decide(mara, decision, "pay_back", fields={"amount": "1200", "currency": "EUR"}, comment="")
    runs.drain()

    assert runs.facts_of(decision.run_id)["answer"] == {
        "option": "pay_back",
        "fields": {"amount": 1200, "currency": "EUR"},
        "by": "mara",
    }
    assert again(decision).state == "answered"


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({}, "amount"),
        ({"amount": "many"}, "amount"),
        ({"amount": 1, "currency": "DKK"}, "currency"),
        ({"amount": 1, "colour": "red"}, "colour"),
    ],
)
def test_fields_that_do_not_fit_are_refused_by_name(given: dict[str, object], field: str) -> None:
    decision = a_decision("question")

    with pytest.raises(FieldsRefused) as refused:
        decide(acting(a_person()), decision, "pay_back", fields=given)

    assert list(refused.value.errors) == [field]


def test_an_unknown_result_that_happened_is_taken_with_the_receivers_id() -> None:
    mara = acting(a_person())
    decision = a_decision("wire")

    decide(mara, decision, "happened", fields={"receiver_id": "ch_55"})
    runs.drain()

    assert decision.kind == "reconcile"
    assert runs.facts_of(decision.run_id)["receipt"]["id"] == "ch_55"
    assert len(workflows.SENT) == 1


def test_an_unknown_result_that_did_not_happen_is_sent_again_under_the_same_key() -> None:
    mara = acting(a_person())
    decision = a_decision("wire")

    decide(mara, decision, "did_not")
    runs.drain()

    assert len(workflows.SENT) == 2
    assert len({key for key, _ in workflows.SENT}) == 1


def test_an_unknown_result_may_stop_the_run() -> None:
    decision = a_decision("wire")

    decide(acting(a_person()), decision, "stop")

    assert runs.state_of(decision.run_id) == "failed"


def test_a_step_that_gave_up_is_tried_again() -> None:
    decision = a_decision("flaky")

    decide(acting(a_person()), decision, "again", comment="")
    runs.drain()

    assert decision.kind == "give up"
    assert runs.state_of(decision.run_id) == "succeeded"


def test_the_clock_closes_what_nobody_answered() -> None:
    decision = a_decision()

    runs.let_it_be_due(decision.run_id)

    assert again(decision).state == "expired"
    assert again(decision).closed_by == "the clock"
    assert runs.state_of(decision.run_id) == "cancelled"
    with pytest.raises(DecisionExpired):
        decide(acting(a_person()), decision)


def test_an_answer_after_its_time_is_refused_even_before_the_clock_has_come_round() -> None:
    decision = a_decision()
    Decision.objects.update(expires_at=decision.opened_at)

    with pytest.raises(DecisionExpired, match="The time for an answer was over"):
        decide(acting(a_person()), decision)


def test_cancelling_the_run_withdraws_what_it_asked() -> None:
    decision = a_decision()

    cancel(decision)

    assert again(decision).state == "withdrawn"
    assert again(decision).because == "Not wanted any more."
    with pytest.raises(DecisionClosed, match="Already withdrawn by tests at"):
        decide(acting(a_person()), decision)


def test_the_audit_says_who_answered_what_and_whether_alone() -> None:
    mara = acting(a_person())
    decision = a_decision()

    decide(mara, decision)

    event = AuditEvent.objects.get(run_id=decision.run_id, kind="wait.closed")
    said = canonical.loads(event.body)
    assert event.actor == said["by"] == "mara"
    assert (said["option"], said["digest"], said["struck"]) == ("approve", decision.digest, 0)
    assert said["comment_digest"] == canonical.digest(COMMENT)
    assert said["alone"] is True


def test_whoever_could_have_asked_somebody_else_is_not_alone() -> None:
    mara = acting(a_person())
    a_person("ben")
    decision = a_decision()

    decide(mara, decision)

    assert Vote.objects.get().alone is False


def test_those_who_may_answer_are_told_by_mail_without_what_it_is_about() -> None:
    a_person("mara", email="mara@example.org")
    a_person("olga", groups=["others"], email="olga@example.org")
    a_person("vera", permissions=[], email="vera@example.org")

    decision = a_decision()

    message = Message.objects.get(kind="decision.opened")
    told = canonical.loads(message.payload)
    assert told["to"] == ["mara@example.org"]
    assert told["title"] == "payments waits for a decision before settle goes on"
    assert told["link"].endswith(f"/decisions/{decision.pk}/")


def test_nobody_is_told_when_nobody_can_be_reached() -> None:
    a_decision()

    assert not Message.objects.exists()
