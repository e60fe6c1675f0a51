"""What happens when nobody answers, and when an answer begins and ends to hold."""

from collections.abc import Iterator

import pytest
from django.db import IntegrityError, transaction

from approvals.ledger import striking, withdrawing
from approvals.ledger.holding import AnswerTookEffect, AnswerWaits, DecisionClosed
from approvals.models import Decision, Notice, Vote
from approvals.queries import due
from approvals.queries.visible import groups_of
from runs.engine.clockwork import Clockwork
from runs.ledger import lifecycle, pausing, resuming, waking
from runs.models import AuditEvent, Message, Wait
from runs.queries.verify import violations
from runs.rules import canonical
from runs.testing.clock import Clock
from tests.approvals import workflows
from tests.approvals.builders import a_decision, a_person, acting, again, asked_by, decide
from tests.approvals.timed import DAY, HOUR
from tests.support import runs

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def clock() -> Iterator[Clock]:
    workflows.SENT.clear()
    with Clock() as clock:
        yield clock


def go_round() -> None:
    Clockwork().go_round()


def told(kind: str) -> list[str]:
    rows = Message.objects.filter(kind=f"decision.{kind}").order_by("created_at", "pk")
    return [canonical.loads(payload)["title"] for payload in rows.values_list("payload", flat=True)]


def events(decision: Decision, kind: str) -> list[AuditEvent]:
    return list(AuditEvent.objects.filter(run_id=decision.run_id, kind=kind))


def test_people_are_reminded_at_each_time_once(clock: Clock) -> None:
    a_person("mara", email="mara@example.com")
    decision = a_decision("told_again")

    clock.advance(HOUR)
    go_round()
    go_round()
    first = told("reminder")
    clock.advance(HOUR)
    go_round()

    assert len(first) == 1
    assert len(told("reminder")) == 2
    assert "still waits for a decision" in first[0]
    assert [event.actor for event in events(decision, "decision.reminder")] == ["the clock"] * 2
    assert violations([decision.run_id]) == []


def test_nobody_is_reminded_of_what_has_been_answered(clock: Clock) -> None:
    decision = a_decision("told_again")
    decide(acting(a_person(email="mara@example.com")), decision)

    clock.advance(DAY)
    go_round()

    assert told("reminder") == []
    assert not Notice.objects.filter(decision=decision).exists()


def test_another_group_is_asked_too_and_may_then_answer(clock: Clock) -> None:
    a_person("mara", groups=["managers"], email="mara@example.com")
    decision = a_decision("asked_too")
    before = groups_of(again(decision))

    clock.advance(HOUR)
    go_round()

    assert (sorted(before), sorted(groups_of(again(decision)))) == (
        ["approvers"],
        ["approvers", "managers"],
    )
    assert len(told("escalation")) == 1
    assert decide(acting(a_person("max", groups=["managers"])), decision).state == "approved"


def test_what_whoever_may_decide_may_answer_is_not_kept_from_them_by_asking_others(
    clock: Clock,
) -> None:
    decision = a_decision("timed_question")

    clock.advance(2 * HOUR)
    go_round()

    assert groups_of(again(decision)) == frozenset()
    assert len(events(decision, "decision.escalation")) == 1


def test_reminders_stand_still_with_their_run_and_go_on_from_where_they_stood(
    clock: Clock,
) -> None:
    a_person("mara", email="mara@example.com")
    decision = a_decision("told_again")
    pausing.pause(runs.the_operator(), decision.run_id, because="lunch")

    clock.advance(DAY)
    go_round()
    resuming.resume(runs.the_operator(), decision.run_id)
    go_round()
    after = [len(told("reminder"))]
    for _ in range(2):
        clock.advance(HOUR)
        go_round()
        after.append(len(told("reminder")))

    assert after == [0, 1, 2]


def test_reminders_that_were_missed_come_as_one(clock: Clock) -> None:
    a_person("mara", email="mara@example.com")
    decision = a_decision("told_again")
    clock.advance(HOUR)
    pausing.pause(runs.the_operator(), decision.run_id, because="lunch")
    clock.advance(DAY)
    resuming.resume(runs.the_operator(), decision.run_id)
    clock.advance(HOUR)

    go_round()
    go_round()

    (event,) = events(decision, "decision.reminder")
    assert (len(told("reminder")), canonical.loads(event.body)["missed"]) == (1, 1)
    assert Notice.objects.get(decision=decision).number == 2
    assert violations([decision.run_id]) == []


def test_a_decision_that_nobody_answers_ends_as_it_was_declared_to(clock: Clock) -> None:
    decision = a_decision("ends_failed")

    clock.advance(DAY)
    go_round()

    assert (again(decision).state, runs.state_of(decision.run_id)) == ("expired", "failed")
    assert not Vote.objects.exists()
    assert workflows.SENT == []


def test_a_single_call_is_asked_about_no_longer_than_the_list_of_its_step(clock: Clock) -> None:
    decision = a_decision("one_refund_today")

    clock.advance(DAY)
    go_round()

    assert (decision.kind, decision.on_expiry) == ("call", "cancel")
    assert (again(decision).state, runs.state_of(decision.run_id)) == ("expired", "cancelled")


def test_silence_answers_no_decision_whatever_its_rows_say(clock: Clock) -> None:
    decision = a_decision("told_again")

    with pytest.raises(IntegrityError), transaction.atomic():
        Wait.objects.filter(pk=decision.wait_id).update(on_due="resume")
    with pytest.raises(IntegrityError), transaction.atomic():
        Decision.objects.filter(pk=decision.pk).update(on_expiry="approve")
    with pytest.raises(IntegrityError), transaction.atomic():
        Decision.objects.filter(pk=decision.pk).update(
            state="approved",
            option="approve",
            closed_by="the clock",
            closed_at=decision.opened_at,
            approved_digest=decision.digest,
        )


def test_an_answer_waits_for_its_time_and_then_the_run_goes_on(clock: Clock) -> None:
    decision = a_decision("not_before")
    decided = decide(acting(a_person()), decision)
    go_round()
    waiting = again(decision)

    clock.advance(HOUR)
    go_round()
    runs.drain()

    assert (decided.state, waiting.state, waiting.deferred_option) == ("open", "open", "approve")
    assert (again(decision).state, again(decision).closed_by) == ("approved", "mara")
    assert [to for _, to in workflows.SENT] == ["not_before-1"]
    assert len(events(decision, "decision.deferred")) == 1
    assert violations([decision.run_id]) == []


def test_a_no_does_not_wait(clock: Clock) -> None:
    decision = a_decision("not_before")

    decided = decide(acting(a_person()), decision, "reject")

    assert (decided.state, runs.state_of(decision.run_id)) == ("rejected", "cancelled")


def test_until_then_whoever_answered_may_take_it_back(clock: Clock) -> None:
    decision = a_decision("not_before")
    mara = acting(a_person())
    decide(mara, decision)

    withdrawing.withdraw(mara, decision.pk, because="wrong customer")
    clock.advance(DAY)
    go_round()
    runs.drain()

    assert again(decision).state == "open"
    assert workflows.SENT == []
    assert Vote.objects.get().void_because == "taken back: wrong customer"
    assert len(events(decision, "decision.answer_withdrawn")) == 1
    decide(mara, decision, "reject")
    assert violations([decision.run_id]) == []


def test_from_its_time_on_nobody_takes_it_back_and_is_told_so(clock: Clock) -> None:
    decision = a_decision("not_before")
    mara = acting(a_person())
    decide(mara, decision)

    clock.advance(HOUR)
    with pytest.raises(AnswerTookEffect, match="takes effect at"):
        withdrawing.withdraw(mara, decision.pk)
    go_round()
    with pytest.raises(DecisionClosed, match="Already approved by mara at"):
        withdrawing.withdraw(mara, decision.pk)

    assert again(decision).state == "approved"


def test_while_an_answer_waits_nobody_gives_another_one(clock: Clock) -> None:
    decision = a_decision("not_before")
    decide(acting(a_person()), decision)

    with pytest.raises(AnswerWaits, match="Already answered with “approve”"):
        decide(acting(a_person("max")), decision, "reject")


def test_an_answer_that_waits_stands_still_while_its_run_is_paused(clock: Clock) -> None:
    decision = a_decision("not_before")
    decide(acting(a_person()), decision)
    pausing.pause(runs.the_operator(), decision.run_id, because="lunch")
    clock.advance(DAY)
    go_round()
    resuming.resume(runs.the_operator(), decision.run_id)
    go_round()
    still = again(decision).state

    clock.advance(HOUR)
    go_round()

    assert (still, again(decision).state) == ("open", "approved")


def test_cancelling_the_run_closes_a_decision_whose_answer_waits(clock: Clock) -> None:
    decision = a_decision("not_before")
    decide(acting(a_person()), decision)

    lifecycle.cancel(runs.the_operator(), decision.run_id, because="not wanted")
    clock.advance(HOUR)
    go_round()

    closed = again(decision)
    assert (closed.state, closed.takes_effect_at, closed.wait.state) == (
        "withdrawn",
        None,
        "withdrawn",
    )
    assert workflows.SENT == []


def test_a_vote_may_be_taken_back_while_others_have_still_to_agree(clock: Clock) -> None:
    decision = a_decision("two_agree")
    mara, max_ = acting(a_person()), acting(a_person("max"))
    decide(mara, decision)

    withdrawing.withdraw(mara, decision.pk)
    decide(max_, decision)
    one = again(decision).state
    decide(mara, decision)

    assert (one, again(decision).state) == ("open", "approved")
    with pytest.raises(DecisionClosed):
        withdrawing.withdraw(max_, decision.pk)


def test_who_has_not_answered_has_nothing_to_take_back(clock: Clock) -> None:
    decision = a_decision("two_agree")
    decide(acting(a_person()), decision)

    with pytest.raises(withdrawing.NothingToWithdraw):
        withdrawing.withdraw(acting(a_person("max")), decision.pk)


def test_an_approval_that_is_too_old_when_the_call_leaves_is_asked_again(clock: Clock) -> None:
    decision = a_decision("valid_for", amounts="1 2 3")
    mara = acting(a_person())
    striking.strike(mara, decision.pk, ordinals=[2], struck=True)
    decide(mara, decision)

    clock.advance(HOUR)
    runs.drain()
    asked = asked_by(decision.run_id)
    nothing_left = list(workflows.SENT)
    decide(mara, asked)
    runs.drain()

    assert nothing_left == []
    assert asked.pk != decision.pk
    assert canonical.loads(asked.ask)["asked_again"]["by"] == "mara"
    # What had been struck off stays off, unless somebody puts it back.
    assert (asked.count, again(asked).approved_digest) == (2, again(decision).approved_digest)
    assert [to for _, to in workflows.SENT] == ["valid_for-1", "valid_for-3"]
    assert violations([decision.run_id]) == []


def test_an_approval_grows_too_old_in_the_middle_of_its_list(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    decision = a_decision("valid_for", amounts="1 2 3")
    decide(acting(a_person()), decision)
    sent: list[tuple[str, str]] = []

    class Slow(list[tuple[str, str]]):
        def append(self, one: tuple[str, str]) -> None:
            sent.append(one)
            clock.advance(HOUR / 2)

    monkeypatch.setattr(workflows, "SENT", Slow())
    runs.drain()

    asked = asked_by(decision.run_id)
    assert runs.state_of(decision.run_id) == "waiting"
    assert asked.digest == again(decision).digest
    decide(acting(a_person("max")), asked)
    runs.drain()
    # What had left under the old approval does not leave again.
    assert len({key for key, _ in sent}) == len(sent) == 3
    assert violations([decision.run_id]) == []


def test_a_decided_run_moves_though_its_doorbell_was_lost(clock: Clock) -> None:
    decision = a_decision("told_again")
    decide(acting(a_person()), decision)

    runs.drain()

    assert runs.state_of(decision.run_id) == "succeeded"
    assert not waking.expire(decision.wait_id)
    assert due.notices_due(at_most=10) == []
