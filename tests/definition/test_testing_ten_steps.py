"""`runs.testing` on the bundled ten steps: pages, judgements, calls, a list, an event, a timer, one transaction."""

import pytest

from runs.definition import registry
from runs.examples.ten_steps import RECEIPT, TenSteps
from runs.rules.crash_points import Point
from runs.testing import CRASH_POINTS, Rehearsal

pytestmark = pytest.mark.django_db(transaction=True)

TRIED_ALWAYS = ("sent", "before_commit", "committed", "parked")


@pytest.mark.parametrize(
    "point",
    [
        pytest.param(point, marks=() if point in TRIED_ALWAYS else pytest.mark.long)
        for point in CRASH_POINTS
    ],
)
def test_ten_steps_end_alike_wherever_a_worker_dies(point: Point) -> None:
    registry.register(TenSteps)

    with Rehearsal() as stage:
        stage.kill_at(point, at=2, must=point in TRIED_ALWAYS)
        run = stage.start(TenSteps)
        run.approve()
        stage.deliver(RECEIPT, str(run.id), {"number": 7})
        stage.skip_timers()

    assert run.state == "succeeded"
    assert run.facts["summary"] == {
        "gathered": 78,
        "even": 6,
        "paid": {"confirmed": 2, "refused": 0, "struck_off": 0},
        "receipt": {"number": 7},
        "booked": 12,
        "notified": "done-owner",
    }
    run.assert_happened_once("ten_steps.reserve", times=2)
    run.assert_happened_once("ten_steps.pay", times=2)
    run.assert_happened_once("ten_steps.notify")
