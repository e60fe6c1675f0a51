"""`runs.testing`: the worker dies where the test says, and another one goes on."""

from collections.abc import Iterator
from typing import cast

import pytest

from runs.definition import Run, Workflow, registry, step
from runs.definition.context import Cursor
from runs.rules.crash_points import Point
from runs.testing import CRASH_POINTS, NoSuchCrashPoint, Receiver, Rehearsal
from tests.definition.refunds import Refund

pytestmark = pytest.mark.django_db(transaction=True)

NEVER_HERE = {
    "extension_committed",
    "resend_committed",
    "refusal_committed",
    "unsent_committed",
    "doubt_committed",
    "compensation_committed",
    "late_answer_committed",
    "late_write_committed",
    "failed",
    "handed_back",
}


@pytest.fixture(autouse=True)
def _known() -> Iterator[None]:
    with registry.isolated():
        registry.register(Refund)
        yield


@pytest.mark.parametrize(
    "point",
    [
        pytest.param(point, marks=pytest.mark.long if point in NEVER_HERE else ())
        for point in CRASH_POINTS
    ],
)
def test_wherever_the_worker_dies_each_effect_happens_once(point: Point) -> None:
    bank = Receiver()

    with Rehearsal(receivers={"bank.refund": bank}) as stage:
        stage.kill_at(point, must=point not in NEVER_HERE)
        run = stage.start(Refund, order="8812", amount=400)
        run.approve()
        stage.skip_timers()
        stage.deliver("booked", "8812", {"number": 7})

        assert run.state == "succeeded"
        assert len(stage.kills) == (point not in NEVER_HERE)
        run.assert_happened_once("bank.refund", times=2)
        run.assert_happened_once("mail.send")


def test_a_finished_step_is_not_run_again_after_a_kill_in_a_later_one() -> None:
    with Rehearsal() as stage:
        stage.kill_at("sent", step="refund", at=2)
        run = stage.start(Refund, order="8812", amount=400)
        run.approve()

    assert stage.kills == ["sent in step refund"]
    run.assert_ran_once("propose")
    assert run.entries("refund") == 2
    outcomes = [each.outcome for each in stage.receiver("bank.refund").arrivals]
    assert outcomes == ["happened", "happened", "known already"]


def test_a_body_cannot_catch_its_own_death() -> None:
    class Stubborn(Workflow):
        name, version = "stubborn", 1

        @step(writes=["n"])
        def hold_on(self, run: Run) -> None:
            run.write("n", 1)
            try:
                with run.checkpoint(cursor=Cursor(ordinal=1, token="")):
                    pass
            except Exception:  # noqa: BLE001
                run.write("n", 2)

    with Rehearsal() as stage:
        stage.kill_at("committed", step="hold_on")
        run = stage.start(Stubborn)

    assert (run.state, run.facts) == ("succeeded", {"n": 1})
    assert run.entries("hold_on") == 2


def test_three_deaths_in_one_step_ask_a_person() -> None:
    with Rehearsal() as stage:
        run = stage.start(Refund, order="8812", amount=400)
        stage.kill_at("before_body", step="refund", times=3)
        run.approve()

        assert run.question.kind == "crashes"
        run.answer("again")

    assert len(stage.kills) == 3
    run.assert_happened_once("bank.refund", times=2)


def test_a_kill_that_never_happens_fails_the_test() -> None:
    def rehearsed() -> None:
        with Rehearsal() as stage:
            stage.kill_at("doubt_committed", step="refund")
            stage.start(Refund, order="8812", amount=400)

    with pytest.raises(AssertionError, match="never came to doubt_committed in step refund"):
        rehearsed()


def test_a_point_that_no_worker_comes_by_is_refused() -> None:
    with Rehearsal() as stage:
        with pytest.raises(NoSuchCrashPoint, match="intent_committed: a call is named"):
            stage.kill_at(cast("Point", "in the middle"))
        with pytest.raises(NoSuchCrashPoint):
            stage.kill_at("taken_over")


def test_one_kill_at_a_time() -> None:
    with Rehearsal() as stage:
        stage.kill_at("claimed", must=False)
        with pytest.raises(ValueError, match="one at a time"):
            stage.kill_at("sent")
