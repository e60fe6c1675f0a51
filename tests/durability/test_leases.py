"""A worker that stands still, or is out of sight, loses its work by its lease, and only then."""

import os
import signal
from uuid import UUID

import psutil
import pytest

from runs.models import Assignment, AuditEvent, Worker
from runs.queries.clock import db_now
from tests.durability.plant import Plant, lines_in

pytestmark = pytest.mark.processes
LEASE = 3


def on_short_leases(plant: Plant, *, workers: int = 2) -> Plant:
    plant.site.settings["LEASE_SECONDS"] = str(LEASE)
    plant.watch()
    plant.cluster(workers=workers)
    return plant


def in_its_body(plant: Plant, workflow: str, **given: object) -> tuple[UUID, Worker]:
    lines = plant.scratch()
    run_id = plant.start(workflow, lines=str(lines), **given)
    plant.eventually(lambda: lines_in(lines), "the body has begun")
    return run_id, plant.holder_of(run_id)


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
    on_short_leases(own_plant)
    run_id, worker = in_its_body(own_plant, "stays", seconds=1)
    stopped_at = db_now()
    os.kill(worker.pid, signal.SIGSTOP)

    own_plant.until(run_id, "succeeded")

    assert is_dead(worker.pid)
    lost = Worker.objects.get(pk=worker.pk)
    assert (lost.state, lost.proven_dead) == ("lost", True)
    assert "stopped" in lost.end_reason
    told = kinds_of(run_id)
    assert told.index("run.fence_raised") < told.index("run.taken_over")
    again = Assignment.objects.filter(run_id=run_id).latest("pk")
    assert again.claimed_at is not None
    assert (again.claimed_at - stopped_at).total_seconds() < LEASE + 2


def test_a_stopped_worker_in_a_transaction_does_not_hold_up_its_takeover(own_plant: Plant) -> None:
    """R19 on PostgreSQL, R29 on SQLite: whoever holds the run's row, or the write lock, is ended."""
    on_short_leases(own_plant)
    run_id, worker = in_its_body(own_plant, "keeps_the_lock", seconds=1)
    os.kill(worker.pid, signal.SIGSTOP)

    own_plant.until(run_id, "succeeded", within=40)

    assert is_dead(worker.pid)
    assert own_plant.attempts_of(run_id, "write") == 2


def test_a_worker_of_another_host_counts_by_its_lease_only(own_plant: Plant) -> None:
    """R22: from here nobody can see whether it is dead, so nobody says so."""
    on_short_leases(own_plant, workers=1)
    run_id, worker = in_its_body(own_plant, "stays", seconds=0.3)
    # Nor has it a session's lock, as behind a pooler or on SQLite.
    Worker.objects.filter(pk=worker.pk).update(host="another.example", lock_key=None)
    renewed_at = Worker.objects.get(pk=worker.pk).renewed_at
    os.kill(worker.pid, signal.SIGKILL)

    own_plant.until(run_id, "succeeded")

    lost = Worker.objects.get(pk=worker.pk)
    assert lost.ended_at is not None
    assert (lost.ended_at - renewed_at).total_seconds() >= LEASE
    assert (lost.state, lost.proven_dead) == ("lost", False)


def test_a_live_worker_in_a_long_body_keeps_its_lease(own_plant: Plant) -> None:
    on_short_leases(own_plant)
    run_id, _ = in_its_body(own_plant, "stays", seconds=1.5 * LEASE)

    own_plant.until(run_id, "succeeded")

    assert own_plant.deaths_of(run_id) == 0


def test_a_worker_that_comes_back_too_late_is_refused_and_ends(own_plant: Plant) -> None:
    """R25: the fence decides, not the clock."""
    on_short_leases(own_plant)
    run_id, worker = in_its_body(own_plant, "stays", seconds=2 * LEASE)
    Worker.objects.filter(pk=worker.pk).update(host="another.example")
    os.kill(worker.pid, signal.SIGSTOP)
    own_plant.eventually(lambda: own_plant.deaths_of(run_id), "its lease is over")

    os.kill(worker.pid, signal.SIGCONT)
    own_plant.until(run_id, "succeeded")

    own_plant.eventually(lambda: is_dead(worker.pid), "it has ended itself")
    accepted = AuditEvent.objects.filter(run_id=run_id, kind="step.succeeded", step="stay")
    assert accepted.count() == 1
    assert accepted.get().actor != str(worker.pk)


def test_a_watch_that_was_blind_gives_every_lease_a_full_period(own_plant: Plant) -> None:
    """R25: after an outage nobody is dead yet."""
    own_plant.site.settings["LEASE_SECONDS"] = str(LEASE)
    own_plant.cluster()
    run_id, worker = in_its_body(own_plant, "stays", seconds=60)
    os.kill(worker.pid, signal.SIGSTOP)
    own_plant.eventually(
        lambda: Worker.objects.get(pk=worker.pk).lease_until < db_now(), "its lease is over"
    )

    began_at = db_now()
    own_plant.watch()
    own_plant.eventually(lambda: own_plant.deaths_of(run_id), "it is taken over")

    lost = Worker.objects.get(pk=worker.pk)
    assert lost.ended_at is not None
    assert (lost.ended_at - began_at).total_seconds() >= LEASE
