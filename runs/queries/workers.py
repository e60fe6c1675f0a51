"""Who works, and whether the clockwork goes round."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from django.db.models import Q

from runs.models import Run, Tick, Worker
from runs.queries.clock import db_now
from runs.rules.identity import ProcessIdentity
from runs.rules.states import RunState, WorkerState


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenWorker:
    """A worker that is live, or that was given up and still holds runs."""

    id: UUID
    identity: ProcessIdentity
    state: WorkerState
    lease_is_over: bool
    draining: bool
    end_reason: str
    lock_key: int | None = None


def workers_to_look_at(*, others_take_within: timedelta) -> list[SeenWorker]:
    """Every live worker, and every other one that holds a run; judged by the database's clock.

    Whoever declares a worker lost may die before its runs are taken, so the runs decide; but
    whoever has just declared it is left the time to take them.
    """
    held = Run.objects.filter(state=RunState.RUNNING.value).values("worker_id")
    rows = list(
        Worker.objects.filter(Q(state=WorkerState.LIVE.value) | Q(pk__in=held)).order_by("id")
    )
    now = db_now() if rows else datetime.min.replace(tzinfo=UTC)
    return [
        _seen(row, now=now)
        for row in rows
        if row.state != WorkerState.LOST or _gone_since(row) < now - others_take_within
    ]


def seen_worker(worker_id: UUID) -> SeenWorker:
    """One of them, whatever it is."""
    return _seen(Worker.objects.get(pk=worker_id), now=db_now())


def _seen(row: Worker, *, now: datetime) -> SeenWorker:
    return SeenWorker(
        id=row.pk,
        identity=identity_of(row),
        state=WorkerState(row.state),
        lease_is_over=row.lease_until < now,
        draining=row.draining,
        end_reason=row.end_reason,
        lock_key=row.lock_key,
    )


def _gone_since(row: Worker) -> datetime:
    return row.ended_at or row.lease_until


def identity_of(row: Worker | None) -> ProcessIdentity:
    """Which process a worker's row stands for."""
    if row is None:
        return ProcessIdentity(host="", boot_id="", pid_namespace="", pid=0, started=0.0)
    return ProcessIdentity(
        host=row.host,
        boot_id=row.boot_id,
        pid_namespace=row.pid_namespace,
        pid=row.pid,
        started=row.pid_started,
    )


def is_live(worker_id: UUID) -> bool:
    """Whether nobody has declared this worker gone."""
    return Worker.objects.filter(pk=worker_id, state=WorkerState.LIVE.value).exists()


def idle_workers() -> int:
    """Live workers whose lease is good and who hold no run."""
    rows = Worker.objects.filter(
        state=WorkerState.LIVE.value, lease_until__gt=db_now(), draining=False
    )
    busy = Run.objects.filter(state=RunState.RUNNING.value).values("worker_id")
    return rows.exclude(pk__in=busy).count()


def last_tick(duty: str) -> datetime | None:
    """When a duty of the clockwork last went round."""
    return Tick.objects.filter(pk=duty).values_list("at", flat=True).first()
