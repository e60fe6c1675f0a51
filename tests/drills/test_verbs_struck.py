"""Whoever starts, answers, pauses, resumes, replays or restarts dies behind the commit: it counts, once."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest

from runs.engine.faults import Died, Point, dying_at
from runs.examples.models import Entry
from runs.examples.ten_steps import RECEIPT
from runs.ledger import lifecycle, pausing, replaying, restarting, resuming, takeover
from runs.models import Assignment, Run, Wait
from runs.queries.verify import violations
from tests.inbox import driving

pytestmark = pytest.mark.django_db(transaction=True)
Verb = Callable[[UUID], object]


@pytest.fixture(autouse=True)
def _nobody_is_rung(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runs.conf.ring", lambda assignment_id: None)


def asking() -> UUID:
    """Ten steps that wait for the approval of their payments."""
    run_id = driving.start("ten_steps")
    driving.work()
    assert driving.state_of(run_id) == "waiting"
    return run_id


def paused() -> UUID:
    run_id = asking()
    pausing.pause(driving.the_operator(), run_id, because="lunch")
    return run_id


def pause(run_id: UUID) -> object:
    return pausing.pause(driving.the_operator(), run_id, because="lunch")


def resume(run_id: UUID) -> object:
    return resuming.resume(driving.the_operator(), run_id, because="back")


def cancel(run_id: UUID) -> object:
    return lifecycle.cancel(driving.the_operator(), run_id, because="enough")


def replay(run_id: UUID) -> object:
    return replaying.replay(driving.the_operator(), run_id, checkpoint=1, because="again")


def restart(run_id: UUID) -> object:
    return restarting.restart(driving.the_operator(), run_id, because="anew")


def approve(run_id: UUID) -> object:
    return driving.approve(run_id)


STRUCK: dict[Point, tuple[Callable[[], UUID], Verb, str]] = {
    "pause_committed": (asking, pause, "paused"),
    "resume_placed": (paused, resume, "waiting"),
    "cancel_committed": (asking, cancel, "cancelled"),
    "replay_placed": (asking, replay, "queued"),
    "restart_placed": (asking, restart, "superseded"),
    "decision_applied": (asking, approve, "queued"),
}


@pytest.mark.parametrize("point", STRUCK)
def test_a_verb_whose_process_dies_behind_its_commit_has_happened_once_and_whole(
    point: Point,
) -> None:
    given, verb, state = STRUCK[point]
    run_id = given()

    with pytest.raises(Died), dying_at(point):
        verb(run_id)

    assert driving.state_of(run_id).split()[0] == state
    assert violations() == []
    assert _open(Assignment, run_id) + _open(Wait, run_id) <= 1


def _open(rows: Any, run_id: UUID) -> int:
    states = ["placed", "claimed", "open"]
    return int(rows.objects.filter(run_id=run_id, state__in=states).count())


@pytest.mark.parametrize(
    ("point", "step"),
    [
        ("claimed", "gather"),
        ("committed", "reserve"),
        ("result_committed", "reserve"),
        ("plan_sealed", "propose"),
        ("parked", "pay"),
    ],
)
def test_a_test_may_kill_a_worker_in_its_own_process_and_the_run_comes_to_its_end(
    point: Point, step: str
) -> None:
    run_id = driving.start("ten_steps")
    with pytest.raises(Died), dying_at(point, step=step):
        driving.work()
    _taken_over(run_id)

    _finish(run_id)

    assert driving.facts_of(run_id)["summary"]["booked"] == 12
    assert violations() == []


def test_a_replay_writes_the_same_rows_and_no_second_ones() -> None:
    run_id = asking()
    rows = Entry.objects.filter(run_id=run_id, step="gather")
    before = sorted(rows.values_list("ordinal", flat=True))

    replaying.replay(driving.the_operator(), run_id, checkpoint=0, because="again")
    _finish(run_id)

    assert sorted(rows.values_list("ordinal", flat=True)) == before == list(range(1, 13))
    assert driving.facts_of(run_id)["summary"]["gathered"] == sum(before)


def _taken_over(run_id: UUID) -> None:
    worker = Run.objects.values_list("worker", flat=True).get(pk=run_id)
    if worker is not None:
        takeover.take_over(worker, because="its process is gone")


def _finish(run_id: UUID) -> None:
    driving.work()
    driving.approve(run_id)
    driving.work()
    driving.deliver(RECEIPT, str(run_id), {"paid": True})
    driving.work()
    driving.let_the_wait_fall_due(run_id)
    driving.work()
    assert driving.state_of(run_id) == "succeeded done"
