"""`runs.testing`: receivers, answers, events and time in the hands of an author's test."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from runs.definition import Run, Workflow, registry, step
from runs.testing import (
    NoSuchAnswer,
    NoSuchEffect,
    NothingAsked,
    Receiver,
    Rehearsal,
    confirm,
    later,
    not_sent,
    refuse,
    time_out,
)
from tests.definition.refunds import Refund

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _known() -> Iterator[None]:
    with registry.isolated():
        registry.register(Refund)
        yield


def test_a_whole_run_passes_without_waiting_and_without_the_real_receivers() -> None:
    bank = Receiver(lambda request: {"id": f"ch_{request['amount']}"})

    with Rehearsal(receivers={"bank.refund": bank}) as stage:
        run = stage.start(Refund, order="8812", amount=400)
        assert (run.question.kind, len(run.question.calls)) == ("plan", 2)
        run.approve()
        assert run.state == "waiting"
        stage.advance(timedelta(hours=23))
        assert stage.receiver("mail.send").arrivals == []
        stage.advance(timedelta(hours=1, seconds=1))
        assert stage.deliver("booked", "8812", {"number": 7}) == "used"

    assert (run.state, run.facts["booking"]) == ("succeeded", 7)
    assert bank.requests == [{"amount": 400}, {"amount": 401}]
    run.assert_happened_once("bank.refund", times=2)
    run.assert_happened_once("mail.send")
    run.assert_ran_once("propose", "refund")
    assert (run.entries("inform"), run.entries("book")) == (2, 2)


def test_an_approver_may_strike_a_call_off() -> None:
    with Rehearsal() as stage:
        run = stage.start(Refund, order="8812", amount=400)
        run.approve(strike=["8812/1"])

    assert stage.receiver("bank.refund").requests == [{"amount": 400}]


def test_a_refusal_stops_and_asks() -> None:
    with Rehearsal() as stage:
        stage.receiver("mail.send").will(refuse("no such address"))
        run = stage.start(Refund, order="8812", amount=400)
        run.approve()
        stage.skip_timers()

        assert run.question.kind == "refused"
        assert run.question.evidence["reason"] == "no such address"
        run.answer("stop")

    assert run.state == "failed"


def test_what_did_not_leave_is_tried_again_under_the_same_key() -> None:
    bank = Receiver()
    bank.will(not_sent(), later(timedelta(hours=2)), confirm({"id": "ch_1"}))

    with Rehearsal(receivers={"bank.refund": bank}) as stage:
        run = stage.start(Refund, order="8812", amount=400)
        run.approve(strike=["8812/1"])
        stage.skip_timers()

    assert [each.outcome for each in bank.arrivals] == ["lost on the way"] * 2 + ["happened"]
    assert len({each.key for each in bank.arrivals}) == 1
    run.assert_happened_once("bank.refund")


def test_a_receiver_with_a_contract_recognises_the_key_after_a_timeout() -> None:
    bank = Receiver({"id": "ch_1"})
    bank.will(time_out(happened=True))

    with Rehearsal(receivers={"bank.refund": bank}) as stage:
        run = stage.start(Refund, order="8812", amount=400)
        run.approve(strike=["8812/1"])
        stage.skip_timers()

    assert [each.outcome for each in bank.arrivals] == ["happened", "known already"]
    run.assert_happened_once("bank.refund")


@pytest.mark.parametrize("happened", [True, False])
def test_after_a_timeout_the_probe_says_whether_it_happened(happened: bool) -> None:
    mail = Receiver()
    mail.will(time_out(happened=happened))

    with Rehearsal(receivers={"mail.send": mail}) as stage:
        run = stage.start(Refund, order="8812", amount=400)
        run.approve()
        stage.skip_timers()

    assert len(mail.lookups) == 1
    assert len(mail.arrivals) == (1 if happened else 2)
    run.assert_happened_once("mail.send")


def test_a_probe_may_be_told_what_to_find() -> None:
    mail = Receiver()
    mail.will(time_out(happened=False))
    mail.probe_will(ConnectionError("the probe is down"), True)

    with Rehearsal(receivers={"mail.send": mail}) as stage:
        run = stage.start(Refund, order="8812", amount=400)
        run.approve()
        stage.skip_timers()

    assert len(mail.lookups) == 2
    assert mail.requests == []
    assert run.outcome.calls[-1]["state"] == "confirmed"


def test_an_event_that_never_comes_expires() -> None:
    with Rehearsal() as stage:
        run = stage.start(Refund, order="8812", amount=400)
        run.approve()
        stage.skip_timers()
        assert "booked" in run.why
        stage.advance(timedelta(days=8))

    assert run.state == "failed"


def test_what_falls_due_on_the_way_happens_when_it_is_due() -> None:
    class Twice(Workflow):
        name, version = "twice", 1

        @step(writes=["slept"])
        def sleep(self, run: Run) -> None:
            for night in range(3):
                run.sleep(f"night {night}", timedelta(days=1))
            run.write("slept", 3)

    with Rehearsal() as stage:
        run = stage.start(Twice)
        stage.advance(timedelta(days=2, hours=23))
        assert (run.state, run.entries("sleep")) == ("waiting", 3)
        stage.advance(timedelta(hours=2))

    assert run.state == "succeeded"


def test_an_event_that_came_early_is_kept_and_a_second_one_is_known() -> None:
    with Rehearsal() as stage:
        assert stage.deliver("booked", "8812", {"number": 7}, message_id="m1") == "kept"
        assert stage.deliver("booked", "8812", {"number": 7}, message_id="m1") == "duplicate"
        run = stage.start(Refund, order="8812", amount=400)
        run.approve()
        stage.skip_timers()

    assert (run.state, run.facts["booking"]) == ("succeeded", 7)


def test_two_runs_pass_on_one_stage() -> None:
    with Rehearsal() as stage:
        runs = [stage.start(Refund, order=order, amount=1) for order in ("a", "b")]
        for run in runs:
            run.approve()
        stage.skip_timers()
        for order in ("a", "b"):
            stage.deliver("booked", order, {"number": order})

    assert [run.facts["booking"] for run in runs] == ["a", "b"]


def test_the_clock_and_the_real_receivers_are_back_afterwards() -> None:
    with Rehearsal() as stage:
        before = stage.now
        stage.start(Refund, order="8812", amount=400)
        stage.advance(timedelta(days=30))
        assert stage.now - before >= timedelta(days=30)

    assert stage.now - before < timedelta(days=1)
    with pytest.raises(AssertionError, match="the real receiver was called"):
        Refund.steps[1].effects[0].send({}, key="k", timeout=1)


def test_what_is_asked_for_wrongly_is_answered_with_what_there_is() -> None:
    with Rehearsal() as stage:
        run = stage.start(Refund, order="8812", amount=400)
        with pytest.raises(NoSuchAnswer, match="it offers: approve, reject"):
            run.answer("yes")
        with pytest.raises(NoSuchAnswer, match="No call on the list is for 9/9"):
            run.approve(strike=["9/9"])
        with pytest.raises(NoSuchAnswer, match="has no field why; it has: none"):
            run.answer("approve", why="because")
        with pytest.raises(LookupError, match="has not come to step 'book'"):
            run.entries("book")
        with pytest.raises(ValueError, match="cannot go back"):
            stage.advance(timedelta(hours=-1))
        run.answer("reject")
        with pytest.raises(NothingAsked, match="it is cancelled"):
            run.approve()


def test_a_receiver_for_nobody_is_refused() -> None:
    stage = Rehearsal(receivers={"bank.refnd": Receiver()})

    with stage, pytest.raises(NoSuchEffect, match=r"Those of refund: bank\.refund, mail\.send"):
        stage.start(Refund, order="8812", amount=400)


def test_what_happened_too_often_or_never_fails_the_test() -> None:
    with Rehearsal() as stage:
        run = stage.start(Refund, order="8812", amount=400)
        with pytest.raises(AssertionError, match=r"bank\.refund happened 0 times here, not 2"):
            run.assert_happened_once("bank.refund", times=2)
        run.approve()
        stage.skip_timers()
        with pytest.raises(AssertionError, match="Not entered once, but inform: 2 times"):
            run.assert_ran_once("refund", "inform")
        bank = stage.receiver("bank.refund")
        bank.recognises_keys = False
        bank.send({}, key=bank.arrivals[0].key, timeout=1)
        with pytest.raises(AssertionError, match="happened more than once under mp_"):
            run.assert_happened_once("bank.refund", times=2)


def test_effects_that_are_to_be_real_are_really_sent() -> None:
    with Rehearsal(real=["bank.refund"]) as stage:
        run = stage.start(Refund, order="8812", amount=400)
        run.approve()
        assert "the real receiver was called" in run.outcome.calls[0].get("error", run.why)
