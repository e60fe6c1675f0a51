"""How long a run stands still on one host after its worker is killed: measured, kept, and a goal where nothing else runs."""

import os
import signal
import statistics
from collections.abc import Sequence
from datetime import datetime
from functools import partial
from pathlib import Path

import pytest

from runs.dispatch.sentinel import CRASHED
from runs.models import Assignment, Worker
from runs.queries.clock import db_now
from runs.queries.recovery import figures, recoveries
from tests.durability.plant import Plant, lines_in
from tests.support.waiting import goal

pytestmark = pytest.mark.processes


def kills_of_busy_workers(plant: Plant, *, times: int) -> list[float]:
    """Seconds from each SIGKILL to the next claim, whose transaction starts the step again."""
    lines = plant.scratch()
    run_id = plant.start("stays_on_each_page", lines=str(lines), pages=times + 1)
    killed: list[datetime] = []
    for page in range(1, times + 1):
        plant.eventually(partial(_reached, lines, page), f"page {page}")
        killed.append(db_now())
        plant.kill_holder_of(run_id)
    plant.until(run_id, "succeeded")
    claims = Assignment.objects.filter(run_id=run_id, claimed_at__isnull=False).order_by("fence")
    began = list(claims.values_list("claimed_at", flat=True))[1:]
    found = recoveries(run_ids=[run_id])
    assert len(began) == len(killed) == len(found) == times
    # What is kept for real runs says the same, from the moment when the death was seen.
    assert max(each.seconds for each in found) <= max(_apart(killed, began)) + 0.05
    print(f"\n{times} kills, as kept: {figures(found)}")  # noqa: T201
    assert plant.is_sound(run_id)
    return _apart(killed, began)


def _reached(lines: Path, page: int) -> bool:
    return any(line[-1] == str(page) for line in lines_in(lines))


def _apart(killed: Sequence[datetime], began: Sequence[datetime | None]) -> list[float]:
    return [(at - dead).total_seconds() for dead, at in zip(killed, began, strict=True) if at]


def say(took: Sequence[float], what: str) -> None:
    print(f"\n{what}: median {statistics.median(took):.2f} s, maximum {max(took):.2f} s")  # noqa: T201


def test_every_run_goes_on_after_each_of_twenty_kills(plant: Plant) -> None:
    took = kills_of_busy_workers(plant, times=20)

    say(took, "20 kills of busy workers")


@pytest.mark.long
@pytest.mark.timeout(400)
def test_a_hundred_kills_stay_below_the_goal(plant: Plant) -> None:
    took = kills_of_busy_workers(plant, times=100)

    say(took, "100 kills of busy workers")
    assert statistics.median(took) < goal(1)
    assert max(took) < goal(3)


def after_the_kill_of_an_idle_worker(plant: Plant) -> float:
    """The cluster ends, since a lock may have died too; whoever supervises it starts it again."""
    plant.watch()
    cluster = plant.cluster()
    worker = Worker.objects.filter(state="live").earliest("started_at")
    killed = db_now()
    os.kill(worker.pid, signal.SIGKILL)
    run_id = plant.start("lines_thrice", lines=str(plant.scratch()))
    assert cluster.ended() == CRASHED
    plant.until(run_id, "succeeded")
    claimed = (
        Assignment.objects.filter(run_id=run_id, fence__isnull=False).earliest("fence").claimed_at
    )
    assert claimed is not None
    return (claimed - killed).total_seconds()


def test_work_goes_on_after_the_kill_of_an_idle_worker(own_plant: Plant) -> None:
    say([after_the_kill_of_an_idle_worker(own_plant)], "kill of an idle worker")


@pytest.mark.long
def test_it_goes_on_within_five_seconds(own_plant: Plant) -> None:
    assert after_the_kill_of_an_idle_worker(own_plant) < goal(5)
