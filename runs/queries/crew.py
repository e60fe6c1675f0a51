"""Every worker as it stands by its lease: a row that says live proves nothing."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from runs.models import Run, Worker
from runs.queries.clock import db_now
from runs.rules.states import RunState, WorkerState

MOST_GONE = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Hand:
    """`state` is working, idle, draining, stale (its lease is over), ended or lost."""

    id: UUID
    state: str
    host: str
    pid: int
    cluster_pid: int
    release: str
    memory_kb: int
    started_at: datetime
    renewed_at: datetime
    lease_until: datetime
    ended_at: datetime | None
    end_reason: str
    run_id: UUID | None
    run: str
    step: str


def crew(*, also_gone: bool) -> list[Hand]:
    """Those that nobody has declared gone; with `also_gone` the last hundred others too."""
    live = list(Worker.objects.filter(state=WorkerState.LIVE.value).order_by("started_at", "id"))
    gone: list[Worker] = []
    if also_gone:
        rows = Worker.objects.exclude(state=WorkerState.LIVE.value)
        gone = list(rows.order_by("-ended_at", "id")[:MOST_GONE])
    now = db_now()
    held = {
        run.worker_id: run
        for run in Run.objects.filter(state=RunState.RUNNING.value, worker__in=live)
    }
    return [_hand(worker, held.get(worker.pk), now=now) for worker in (*live, *gone)]


def _hand(worker: Worker, run: Run | None, *, now: datetime) -> Hand:
    return Hand(
        id=worker.pk,
        state=_state(worker, run, now=now),
        host=worker.host,
        pid=worker.pid,
        cluster_pid=worker.cluster_pid,
        release=worker.release,
        memory_kb=worker.memory_kb,
        started_at=worker.started_at,
        renewed_at=worker.renewed_at,
        lease_until=worker.lease_until,
        ended_at=worker.ended_at,
        end_reason=worker.end_reason,
        run_id=run.pk if run else None,
        run=run.reference if run else "",
        step=run.step if run else "",
    )


def _state(worker: Worker, run: Run | None, *, now: datetime) -> str:
    if worker.state != WorkerState.LIVE:
        return worker.state
    if worker.lease_until < now:
        return "stale"
    if worker.draining:
        return "draining"
    return "working" if run else "idle"
