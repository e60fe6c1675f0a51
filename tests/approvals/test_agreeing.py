"""Several people have to agree: votes add up, bind what was shown, and the run moves with the last."""

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction

from approvals.ledger import striking
from approvals.ledger.holding import DecisionClosed
from approvals.models import Vote
from approvals.queries.mine import is_for
from approvals.queries.visible import open_decisions
from approvals.rules.door import NotYours
from runs.definition import Workflow, registry, step
from runs.models import AuditEvent
from runs.queries.verify import violations
from runs.rules.policy import local_operator
from tests.approvals.agreed import asking, somebody
from tests.approvals.builders import a_person, acting, again, asked_by, decide
from tests.approvals.reading import at, filled, signed_in, text_of
from tests.support import runs

pytestmark = pytest.mark.django_db(transaction=True)


def test_with_a_quorum_of_two_the_first_vote_moves_nothing_and_the_second_moves_the_run() -> None:
    ann, ben = acting(somebody("ann")), acting(somebody("ben"))
    decision = asking(quorum=2)

    first = decide(ann, decision)
    after_one = (again(decision).state, runs.state_of(decision.run_id))
    second = decide(ben, decision)
    runs.drain()

    assert (first.is_final, first.tally.still) == (False, ["one more person"])
    assert after_one == ("open", "waiting")
    assert (second.state, again(decision).closed_by) == ("approved", "ben")
    assert again(decision).because == "With ann."
    assert runs.state_of(decision.run_id) == "succeeded"
    assert violations() == []


def test_each_vote_is_an_event_of_the_run() -> None:
    ann, ben = acting(somebody("ann")), acting(somebody("ben"))
    decision = asking(quorum=2)
    decide(ann, decision)
    decide(ben, decision)

    voted = AuditEvent.objects.get(run_id=decision.run_id, kind="decision.voted")
    closed = AuditEvent.objects.get(run_id=decision.run_id, kind="wait.closed")

    assert (voted.actor, '"more":1' in voted.body) == ("ann", True)
    assert (closed.actor, '"with":["ann"]' in closed.body) == ("ben", True)


def test_one_no_is_enough_because_it_sends_nothing() -> None:
    ann, ben = acting(somebody("ann")), acting(somebody("ben"))
    decision = asking(quorum=2)
    decide(ann, decision)

    decide(ben, decision, "reject")

    assert again(decision).state == "rejected"
    assert runs.state_of(decision.run_id) == "cancelled"


def test_nobody_votes_twice() -> None:
    ann = acting(somebody("ann"))
    decision = asking(quorum=2)
    decide(ann, decision)

    with pytest.raises(NotYours, match=r"ann answered “Approve” at .* and votes once"):
        decide(ann, decision)

    assert Vote.objects.count() == 1


def test_nobody_votes_once_by_the_page_and_once_from_their_account_of_the_machine() -> None:
    ann, machine = acting(somebody("ann")), local_operator("local operator ann")
    decision = asking(quorum=2)
    decide(ann, decision)

    with pytest.raises(NotYours, match=r"ann answered “Approve” at .* and votes once"):
        decide(machine, decision)

    assert not open_decisions(machine).filter(is_for(machine)).exists()


@pytest.mark.parametrize("other", [{"by": "ann", "user": None}, {"by": "somebody"}])
def test_the_database_refuses_a_second_vote_by_the_same_person(other: dict[str, object]) -> None:
    ann = acting(somebody("ann"))
    decision = asking(quorum=2)
    decide(ann, decision)
    twin = Vote.objects.get()
    values = {field.attname: getattr(twin, field.attname) for field in Vote._meta.concrete_fields}
    del values["id"]
    if "user" in other:
        values |= {"user_id": None, "voice_id": None}

    with pytest.raises(IntegrityError), transaction.atomic():
        Vote.objects.create(**values | {"by": other["by"]})


def test_votes_on_other_bytes_do_not_add_up_and_striking_off_resets_them() -> None:
    """R16: a vote binds a digest; striking a call off resets the votes."""
    ann, ben, cid = (acting(somebody(name)) for name in ("ann", "ben", "cid"))
    decision = asking(quorum=2)
    decide(ann, decision)

    striking.strike(cid, decision.pk, ordinals=[2], struck=True)
    second = decide(ben, decision)
    third = decide(ann, decision)

    assert not second.is_final
    assert third.state == "approved"
    void = Vote.objects.get(void_at__isnull=False)
    assert (void.by, void.void_because) == ("ann", "cid changed the list after it.")
    assert set(Vote.objects.filter(void_at=None).values_list("digest", flat=True)) == {third.digest}


def test_who_strikes_while_answering_begins_the_count_anew() -> None:
    ann, ben = acting(somebody("ann")), acting(somebody("ben"))
    decision = asking(quorum=2)
    decide(ann, decision)
    striking.strike(ben, decision.pk, ordinals=[2], struck=True)
    left = again(decision).digest
    striking.strike(ben, decision.pk, ordinals=[2], struck=False)

    found = decide(ben, decision, struck=[2], shown_digest=left, confirm=left)

    assert (found.is_final, found.tally.given) == (False, 1)


def test_all_of_several_groups_takes_somebody_of_each_and_nobody_counts_for_two() -> None:
    both = acting(somebody("both", "finance", "legal"))
    lea = acting(somebody("lea", "legal"))
    decision = asking(groups=[], all_of=["finance", "legal"])

    first = decide(both, decision)
    second = decide(lea, decision)

    assert first.tally.still == ["somebody of “legal”"]
    assert second.state == "approved"


def test_a_question_of_a_step_takes_as_many_as_it_asks_for_who_fill_in_the_same() -> None:
    with registry.isolated():

        class Asked(Workflow):
            """Asks two groups how much."""

            name, version = "asked_of_two", 1

            @step(writes=["much"])
            def ask(self, run: Any) -> None:
                amount = {"amount": {"type": "int", "required": True}}
                both = ["clerks", "bankers"]
                said = run.ask("much", question="How much?", fields=amount, quorum=3, all_of=both)
                run.write("much", said["fields"]["amount"])

    ann, ben = somebody("ann", "clerks"), somebody("ben", "bankers")
    cleo, dora = somebody("cleo", "bankers"), somebody("dora", "clerks")
    registry.register(Asked)
    run_id = runs.a_run(Asked)
    runs.drain()
    decision = asked_by(run_id)
    for person, amount in ((ann, "5"), (ben, "5"), (cleo, "6")):
        assert not decide(acting(person), decision, "yes", fields={"amount": amount}).is_final

    page = text_of(signed_in(dora).get(at(decision)))
    last = decide(acting(dora), decision, "yes", fields={"amount": "5"})
    runs.drain()

    assert "2 of 3 votes" in page
    assert "Still needed: one more person." in page
    assert "ben answered “Yes” with amount 5" in page
    assert "choose the same, with the same filled in" in page
    assert (last.state, runs.state_of(run_id)) == ("answered", "succeeded")
    assert violations() == []


def test_two_of_one_group_do_not_stand_for_the_other() -> None:
    fay, fin = acting(somebody("fay", "finance")), acting(somebody("fin", "finance"))
    decision = asking(groups=[], all_of=["finance", "legal"])
    decide(fay, decision)

    found = decide(fin, decision)

    assert (found.is_final, found.tally.still) == (False, ["somebody of “legal”"])


def test_who_comes_after_the_last_vote_is_told_who_won() -> None:
    ann, ben, cid = (acting(somebody(name)) for name in ("ann", "ben", "cid"))
    decision = asking(quorum=2)
    decide(ann, decision)
    decide(ben, decision)

    with pytest.raises(DecisionClosed, match=r"Already approved by ben at .* With ann"):
        decide(cid, decision)


def test_who_has_voted_waits_with_the_others_and_the_page_says_for_whom() -> None:
    ann, ben = somebody("ann"), somebody("ben")
    decision = asking(quorum=2)
    mine = signed_in(ann).post(at(decision, "answers/"), filled(decision), follow=True)

    page = text_of(signed_in(ann).get(at(decision)))
    theirs = text_of(signed_in(ben).get(at(decision)))

    assert "Your vote is recorded: 1 of 2. Still needed: one more person." in text_of(mine)
    assert "Still needed: one more person. Who has not answered: ben may." in page
    assert "ann answered “Approve”" in page
    assert "Record decision" not in page
    assert "1 of 2 votes" in theirs
    assert "Record decision" in theirs
    assert not open_decisions(acting(ann)).filter(is_for(acting(ann))).exists()
    assert open_decisions(acting(ben)).filter(is_for(acting(ben))).exists()


def test_a_comment_is_asked_for_with_every_answer_where_that_is_declared() -> None:
    ann = acting(a_person("ann"))
    decision = asking(comment=True)

    with pytest.raises(ValueError, match="“Reject” needs a comment"):
        decide(ann, decision, "reject", comment="")


def test_the_command_shows_who_has_agreed_and_who_is_still_needed() -> None:
    somebody("ann"), somebody("ben")
    decision = asking(quorum=2)
    shown = decision.digest[:12]

    voted = by_command("approve", decision.pk, "--as", "ann", "--comment", "So.", "--digest", shown)
    who = json.loads(by_command("show", decision.pk, "--json"))["who"]
    shown = by_command("show", decision.pk, "--as", "ben")

    assert "has 1 of 2. Still needed: one more person." in voted
    assert (who["needed"], who["given"], who["by"], who["people"]) == (2, 1, ["ann"], ["ben"])
    assert "votes 1 of 2: ann; still needed: one more person" in shown
    assert "you: may answer" in shown


def test_a_command_confirms_and_breaks_the_glass_as_a_page_does() -> None:
    ann, _ben = somebody("ann"), somebody("ben")
    decision = asking(by=ann)
    ann.is_superuser = True
    ann.save()
    said = ["approve", decision.pk, "--as", "ann", "--comment", "Now."]
    confirmed = [*said, "--confirm", decision.digest[:12]]

    for wrong, code in (([*said, "--break-glass"], 2), (confirmed, 1)):
        with pytest.raises(CommandError) as refused:
            by_command(*wrong)
        assert refused.value.returncode == code

    assert "is approved" in by_command(*confirmed, "--break-glass")
    assert Vote.objects.get().break_glass


def by_command(*arguments: object) -> str:
    out = StringIO()
    call_command("decisions", *map(str, arguments), stdout=out)
    return out.getvalue()
