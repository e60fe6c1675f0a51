"""Who works, and whether the clockwork goes round."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from runs.models import Run, Tick, Worker
from runs.queries.clock import db_now
from runs.rules.identity import ProcessIdentity
from runs.rules.states import RunState, WorkerState


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveWorker:
    """A worker as the clockwork looks at it."""

    id: UUID
    identity: ProcessIdentity
    lease_is_over: bool
    draining: bool
    cluster_pid: int


def live_workers() -> list[LiveWorker]:
    """Every live worker, judged by the database's clock."""
    rows = list(Worker.objects.filter(state=WorkerState.LIVE.value).order_by("id"))
    if not rows:
        return []
    now = db_now()
    return [_seen(row, now=now) for row in rows]


def gone_with_runs(*, for_longer_than: timedelta) -> list[LiveWorker]:
    """Workers that somebody declared gone without taking their runs over: it died in between."""
    held = Run.objects.filter(state=RunState.RUNNING.value).exclude(
        worker__state=WorkerState.LIVE.value
    )
    rows = list(Worker.objects.filter(pk__in=held.values("worker_id")).order_by("id"))
    if not rows:
        return []
    now = db_now()
    return [_seen(row, now=now) for row in rows if _ended(row) < now - for_longer_than]


def _ended(row: Worker) -> datetime:
    return row.ended_at or row.lease_until


def _seen(row: Worker, *, now: datetime) -> LiveWorker:
    return LiveWorker(
        id=row.pk,
        identity=identity_of(row),
        lease_is_over=row.lease_until < now,
        draining=row.draining,
        cluster_pid=row.cluster_pid,
    )


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


def idle_workers(*, cluster_pid: int | None = None) -> int:
    """Live workers whose lease is good and who hold no run."""
    rows = Worker.objects.filter(
        state=WorkerState.LIVE.value, lease_until__gt=db_now(), draining=False
    )
    if cluster_pid is not None:
        rows = rows.filter(cluster_pid=cluster_pid)
    busy = Run.objects.filter(state=RunState.RUNNING.value).values("worker_id")
    return rows.exclude(pk__in=busy).count()


def last_tick(duty: str) -> datetime | None:
    """When a duty of the clockwork last went round."""
    return Tick.objects.filter(pk=duty).values_list("at", flat=True).first()
