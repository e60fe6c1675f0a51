"""Every worker as it stands by its lease: a row that says live proves nothing."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Count, Max

from runs.models import Assignment, Run, Worker
from runs.queries.clock import db_now
from runs.rules.states import AssignmentState, RunState, WorkerState

MOST_GONE = 100
MOST_COUNTED = 5_000


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


def hand_named(worker_id: UUID) -> Hand | None:
    worker = Worker.objects.filter(pk=worker_id).first()
    if worker is None:
        return None
    held = Run.objects.filter(state=RunState.RUNNING.value, worker=worker).first()
    return _hand(worker, held, now=db_now())


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """How often each worker let go of a run by itself; `of_newest` when older work is not counted."""

    by_worker: dict[UUID, int]
    of_newest: bool

    def of(self, worker_id: UUID) -> str:
        return f"{self.by_worker.get(worker_id, 0):,}{'+' if self.of_newest else ''}"


def finished(worker_ids: Collection[UUID]) -> Finished:
    """Counted among the newest assignments only, by their numbers, so that it costs the same for ever."""
    newest = Assignment.objects.aggregate(newest=Max("pk"))["newest"] or 0
    rows = Assignment.objects.filter(
        pk__gt=newest - MOST_COUNTED,
        state=AssignmentState.RELEASED.value,
        worker__in=list(worker_ids),
    )
    counted = rows.order_by().values_list("worker_id").annotate(amount=Count("pk"))
    return Finished(by_worker=dict(counted), of_newest=newest > MOST_COUNTED)


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
