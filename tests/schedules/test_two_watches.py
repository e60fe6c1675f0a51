"""Two real watches, a real cluster, real deaths: each nominal time has one firing, each firing one run."""

import json
import os
import signal
import time
from contextlib import suppress
from datetime import timedelta
from typing import Any

import psutil
import pytest

from runs.engine.faults import Point
from runs.models import Assignment, Firing, Run, Schedule, Tenant
from tests.durability.plant import Plant

pytestmark = pytest.mark.processes
BODIES = "tests.schedules.timed"


@pytest.fixture
def plant(own_plant: Plant) -> Plant:
    """Two watches beside each other, and a cluster of one worker."""
    Tenant.objects.get_or_create(slug="default")
    own_plant.site.settings["WORKFLOW_APPS"] += f",{BODIES}"
    own_plant.watch()
    own_plant.watch()
    own_plant.cluster(workers=1)
    return own_plant


def schedules(plant: Plant, verb: str, *more: str) -> Any:
    done = plant.site.manage("schedules", verb, *more, "--json")
    assert done.code == 0, done.err
    return done.json


def add(plant: Plant, slug: str, workflow: str, *more: str, overlap: str) -> Schedule:
    schedules(plant, "add", slug, workflow, "--overlap", overlap, *more)
    return Schedule.objects.get(slug=slug)


def rows_of(schedule: Schedule) -> list[Firing]:
    rows = Firing.objects.filter(schedule=schedule).select_related("run")
    return list(rows.order_by("nominal_at"))


def each_time_has_its_row(schedule: Schedule) -> bool:
    """From the first to the last, second after second."""
    times = [one.nominal_at for one in rows_of(schedule)]
    first = schedule.anchor + timedelta(seconds=1)
    return times == [first + timedelta(seconds=n) for n in range(len(times))]


def claimed_by_somebody() -> Assignment | None:
    held = Assignment.objects.filter(state="claimed", worker__state="live")
    return held.select_related("worker").first()


@pytest.mark.parametrize("point", ["fired"])
def test_each_second_is_fired_once_while_what_fires_it_is_killed(
    plant: Plant, point: Point
) -> None:
    armed = plant.watch(FAULT_AT=f"{point}:1")
    schedule = add(plant, "every-second", "blink", "--every", "1", overlap="concurrent")

    plant.eventually(lambda: len(rows_of(schedule)) >= 2, "two are fired")
    for program in plant.site.programs[:2]:
        for child in program.family():
            with suppress(psutil.NoSuchProcess):
                child.kill()
        time.sleep(0.7)
    plant.eventually(lambda: len(rows_of(schedule)) >= 7, "seven are fired")
    schedules(plant, "remove", "every-second", "--because", "tests")
    plant.eventually(lambda: all(one.run for one in rows_of(schedule)), "each has its run")

    assert each_time_has_its_row(schedule)
    assert "watch.duty_ended" in armed.said() + "".join(p.said() for p in plant.site.programs)
    for one in rows_of(schedule):
        assert one.run_id is not None
        plant.until(one.run_id, "succeeded")
    assert Run.objects.filter(workflow="blink").count() == len(rows_of(schedule))


def test_a_replacing_run_never_begins_before_the_old_one_is_superseded(plant: Plant) -> None:
    schedule = add(
        plant,
        "replaces",
        "lingers",
        "--every",
        "1",
        "--input",
        json.dumps({"seconds": 1.2}),
        overlap="replace",
    )

    plant.eventually(
        lambda: len([one for one in rows_of(schedule) if one.state == "replaced"]) >= 2,
        "two were replaced",
    )
    claim = plant.eventually(claimed_by_somebody, "one of them is in its body")
    # It may end by itself just now, and then nobody dies.
    with suppress(ProcessLookupError):
        os.kill(claim.worker.pid, signal.SIGKILL)
    schedules(plant, "remove", "replaces", "--because", "tests")
    begun = [one.run_id for one in rows_of(schedule) if one.run_id]
    plant.eventually(
        lambda: not Run.objects.filter(pk__in=begun, state__in=["queued", "running", "waiting"]),
        "all have come to their end",
    )

    for new in Run.objects.filter(pk__in=begun, restart_of__isnull=False).select_related(
        "restart_of"
    ):
        old = new.restart_of
        assert old is not None
        assert old.ended_at is not None
        assert new.started_at is None or new.started_at >= old.ended_at
    assert {run.state for run in Run.objects.filter(pk__in=begun)} <= {"succeeded", "superseded"}
    assert each_time_has_its_row(schedule)
