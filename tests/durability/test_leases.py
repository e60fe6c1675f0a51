"""A worker that stands still, or is out of sight, loses its work by its lease, and only then."""

import os
import signal
from datetime import datetime, timedelta
from uuid import UUID

import psutil
import pytest
from django.db import connection

from runs.models import Assignment, AuditEvent, Worker
from runs.queries.clock import db_now
from tests.durability.plant import Plant, lines_in
from tests.support.programs import CLUSTER_WORKERS

pytestmark = pytest.mark.processes
# What a watch that was blind gives; the workers' own are so long that a slow machine loses none.
LEASE = 3


def with_a_watch(plant: Plant, *, workers: int = CLUSTER_WORKERS) -> Plant:
    plant.watch(LEASE_SECONDS=str(LEASE))
    plant.cluster(workers=workers)
    return plant


def in_its_body(plant: Plant, workflow: str, **given: object) -> tuple[UUID, Worker]:
    lines = plant.scratch()
    run_id = plant.start(workflow, lines=str(lines), **given)
    plant.eventually(lambda: lines_in(lines), "the body has begun")
    pid = int(lines_in(lines)[0][3])
    return run_id, Worker.objects.filter(pid=pid).latest("started_at")


def stopped(plant: Plant, worker: Worker) -> None:
    """From here on it renews nothing and sees nothing."""
    os.kill(worker.pid, signal.SIGSTOP)
    process = psutil.Process(worker.pid)
    plant.eventually(lambda: process.status() == psutil.STATUS_STOPPED, "it is stopped")


def its_lease_ends(worker: Worker, *, after: float = 0.0, **more: object) -> datetime:
    """A worker that is stopped has been so for longer than its lease; when it is over."""
    until = db_now() + timedelta(seconds=after)
    Worker.objects.filter(pk=worker.pk).update(lease_until=until, **more)
    return until


def kinds_of(run_id: UUID) -> list[str]:
    return list(
        AuditEvent.objects.filter(run_id=run_id).order_by("seq").values_list("kind", flat=True)
    )


def is_dead(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True


def test_a_stopped_worker_is_fenced_killed_and_then_replaced(own_plant: Plant) -> None:
    """R22"""
    with_a_watch(own_plant)
    gate = own_plant.scratch("gate")
    run_id, worker = in_its_body(own_plant, "stays", gate=str(gate))
    stopped(own_plant, worker)
    over_at = its_lease_ends(worker)
    gate.touch()

    own_plant.until(run_id, "succeeded")

    assert is_dead(worker.pid)
    lost = Worker.objects.get(pk=worker.pk)
    assert (lost.state, lost.proven_dead) == ("lost", True)
    assert "stopped" in lost.end_reason
    told = kinds_of(run_id)
    assert told.index("run.fence_raised") < told.index("run.taken_over")
    again = Assignment.objects.filter(run_id=run_id).latest("pk")
    assert again.claimed_at is not None
    print(f"claimed {(again.claimed_at - over_at).total_seconds():.2f} s after its lease")  # noqa: T201


def test_a_stopped_worker_in_a_transaction_does_not_hold_up_its_takeover(own_plant: Plant) -> None:
    """R19 on PostgreSQL, R29 on SQLite: whoever holds the run's row, or the write lock, is ended."""
    with_a_watch(own_plant)
    run_id, worker = in_its_body(own_plant, "keeps_the_lock", seconds=600)
    stopped(own_plant, worker)
    if connection.vendor == "postgresql":  # on SQLite it keeps this test from writing as well
        its_lease_ends(worker)

    own_plant.until(run_id, "succeeded")

    assert is_dead(worker.pid)
    assert own_plant.attempts_of(run_id, "write") == 2


def test_a_worker_of_another_host_counts_by_its_lease_only(own_plant: Plant) -> None:
    """R22: from here nobody can see whether it is dead, so nobody says so."""
    with_a_watch(own_plant, workers=1)
    gate = own_plant.scratch("gate")
    run_id, worker = in_its_body(own_plant, "stays", gate=str(gate))
    stopped(own_plant, worker)
    # Nor has it a session's lock, as behind a pooler or on SQLite.
    over_at = its_lease_ends(worker, after=LEASE, host="another.example", lock_key=None)
    os.kill(worker.pid, signal.SIGKILL)
    gate.touch()

    own_plant.until(run_id, "succeeded")

    lost = Worker.objects.get(pk=worker.pk)
    assert lost.ended_at is not None
    assert lost.ended_at >= over_at
    assert (lost.state, lost.proven_dead) == ("lost", False)


@pytest.mark.parametrize(
    "renewals", [1, pytest.param(4, id="longer than its lease", marks=pytest.mark.long)]
)
def test_a_live_worker_in_a_long_body_keeps_its_lease(own_plant: Plant, renewals: int) -> None:
    with_a_watch(own_plant)
    gate = own_plant.scratch("gate")
    run_id, worker = in_its_body(own_plant, "stays", gate=str(gate))

    for _ in range(renewals):
        before = Worker.objects.get(pk=worker.pk)
        renewed = Worker.objects.filter(
            pk=worker.pk,
            renewed_at__gt=before.renewed_at,
            lease_until__gt=before.lease_until,
            state="live",
        )
        own_plant.eventually(renewed.exists, "it has renewed its lease")
    gate.touch()
    own_plant.until(run_id, "succeeded")

    assert own_plant.deaths_of(run_id) == 0


def test_a_worker_that_comes_back_too_late_is_refused_and_ends(own_plant: Plant) -> None:
    """R25: the fence decides, not the clock."""
    with_a_watch(own_plant)
    gate = own_plant.scratch("gate")
    run_id, worker = in_its_body(own_plant, "stays", gate=str(gate))
    stopped(own_plant, worker)
    its_lease_ends(worker, host="another.example")
    own_plant.eventually(lambda: own_plant.deaths_of(run_id), "its lease is over")

    os.kill(worker.pid, signal.SIGCONT)
    gate.touch()
    own_plant.until(run_id, "succeeded")

    own_plant.eventually(lambda: is_dead(worker.pid), "it has ended itself")


def test_a_watch_that_was_blind_gives_every_lease_a_full_period(own_plant: Plant) -> None:
    """R25: after an outage nobody is dead yet."""
    own_plant.cluster()
    run_id, worker = in_its_body(own_plant, "stays")
    stopped(own_plant, worker)
    its_lease_ends(worker)

    began_at = db_now()
    own_plant.watch(LEASE_SECONDS=str(LEASE))
    own_plant.eventually(lambda: own_plant.deaths_of(run_id), "it is taken over")

    lost = Worker.objects.get(pk=worker.pk)
    assert lost.ended_at is not None
    assert (lost.ended_at - began_at).total_seconds() >= LEASE
