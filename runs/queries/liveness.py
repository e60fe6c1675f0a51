"""What the database knows of who lives and gets on: leases, checkpoints, answers, and what is due."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import OuterRef, Subquery

from runs.definition import registry
from runs.models import (
    Assignment,
    AuditEvent,
    Call,
    Checkpoint,
    Firing,
    Run,
    Schedule,
    Step,
    Tick,
    Worker,
)
from runs.queries.clock import db_now
from runs.queries.plans import plan_by_hash
from runs.rules import canonical
from runs.rules.plan import BrokenWorkflow, PlanHeartbeat, plan_of
from runs.rules.states import FINAL, AssignmentState, RunState, WorkerState

OVER = frozenset(FINAL)
LATE_BY_DEFAULT = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLife:
    """A run in a worker's hands: under which lease, and what it last came to.

    `mark` changes whenever the run says how far it is, which is written down without a time;
    `undated` when its step has said so by now. `cluster` names the process that keeps its worker.
    """

    id: UUID
    tenant_id: int
    workflow: str
    reference: str
    fence: int
    worker_id: UUID
    worker: str
    cluster: str
    lives: bool
    renewed_at: datetime
    began_at: datetime
    got_on_at: datetime
    mark: str
    undated: bool
    heartbeat: PlanHeartbeat


@dataclass(frozen=True, slots=True, kw_only=True)
class Unbegun:
    """A run that was placed, and whom nobody has begun."""

    id: UUID
    tenant_id: int
    workflow: str
    reference: str
    placed_at: datetime
    heartbeat: PlanHeartbeat


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerLife:
    """`cluster` names the process that keeps it, and that may take others down with it."""

    id: UUID
    name: str
    cluster: str
    state: str
    lives: bool
    renewed_at: datetime
    ended_at: datetime | None
    end_reason: str
    runs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleLife:
    """`unbegun_since` is since when a run that it started lies unbegun."""

    id: int
    tenant_id: int
    slug: str
    workflow: str
    due_at: datetime | None
    enabled: bool
    grace: float
    unbegun_since: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a run stands that nobody works on now."""

    state: str
    is_over: bool


def runs_at_work() -> list[RunLife]:
    """Those in a worker's hands whose workflow declares a heartbeat."""
    now = db_now()
    steps = Step.objects.filter(run=OuterRef("run"), key=OuterRef("run__step"), superseded=False)
    last = Checkpoint.objects.filter(run=OuterRef("run"), number=OuterRef("run__checkpoint"))
    rows = (
        Assignment.objects.filter(
            state=AssignmentState.CLAIMED.value, run__state=RunState.RUNNING.value
        )
        .select_related("run", "worker")
        .annotate(
            step_at=Subquery(steps.values("started_at")[:1]),
            step_done=Subquery(steps.values("progress_done")[:1]),
            checkpoint_at=Subquery(last.values("at")[:1]),
        )
        .order_by("pk")
    )
    return [life for row in rows if (life := _at_work(row, now)) is not None]


def _at_work(row: Assignment, now: datetime) -> RunLife | None:
    run, worker = row.run, row.worker
    heartbeat = heartbeat_of(run.workflow, run.version, run.plan_id)
    if heartbeat is None or worker is None or row.claimed_at is None:
        return None
    times = (row.claimed_at, row.step_at, row.checkpoint_at)  # type: ignore[attr-defined]
    return RunLife(
        id=run.pk,
        tenant_id=run.tenant_id,
        workflow=run.workflow,
        reference=run.reference,
        fence=row.fence or 0,
        worker_id=worker.pk,
        worker=f"{worker.host}/{worker.pid}",
        cluster=_cluster_of(worker),
        lives=worker.state == WorkerState.LIVE and worker.lease_until >= now,
        renewed_at=worker.renewed_at,
        began_at=row.claimed_at,
        got_on_at=max(at for at in times if at is not None),
        mark=f"{run.step}:{run.checkpoint}:{row.step_done}",  # type: ignore[attr-defined]
        undated=bool(row.step_done),  # type: ignore[attr-defined]
        heartbeat=heartbeat,
    )


def _cluster_of(worker: Worker) -> str:
    """Empty where nobody knows it; a process number alone is used again after a start."""
    if not worker.cluster_pid:
        return ""
    return f"{worker.host}/{worker.boot_id}/{worker.cluster_pid}"


def heartbeat_of(workflow: str, version: int, plan_hash: str) -> PlanHeartbeat | None:
    """What the code here declares, or else the plan as it was stored: no hash covers a heartbeat."""
    try:
        plan = plan_of(registry.get(workflow, version))
    except (registry.UnknownWorkflow, BrokenWorkflow):
        return plan_by_hash(plan_hash).heartbeat
    return plan.heartbeat if plan.hash == plan_hash else plan_by_hash(plan_hash).heartbeat


def called_since(run_id: UUID, at: datetime) -> datetime | None:
    """When a receiver last answered a call of this run, if that was after `at`."""
    answered = Call.objects.filter(run=run_id, settled_at__gt=at)
    return answered.order_by("-settled_at").values_list("settled_at", flat=True).first()


def extended_until(run_id: UUID, *, since: datetime) -> datetime | None:
    """Until when the run said that it may go on, since this stretch of work began."""
    said = AuditEvent.objects.filter(run_id=run_id, kind="run.extended", at__gte=since)
    body = said.order_by("-seq").values_list("body", flat=True).first()
    return datetime.fromisoformat(canonical.loads(body)["until"]) if body else None


def lying_unbegun(*, at_most: int) -> list[Unbegun]:
    """Placed runs that nobody has begun within the time their workflow gives them, oldest first."""
    limits = _start_limits()
    if not limits:
        return []
    before = db_now() - timedelta(seconds=min(limits.values()))
    rows = Assignment.objects.filter(
        state=AssignmentState.PLACED.value,
        placed_at__lt=before,
        run__workflow__in=limits,
        run__state=RunState.QUEUED.value,
    ).select_related("run")
    found = [_unbegun(row) for row in rows.order_by("placed_at", "pk")[:at_most]]
    return [each for each in found if each is not None]


def _start_limits() -> dict[str, float]:
    return {
        cls.name: cls.heartbeat.starts_within.total_seconds()
        for cls in registry.all_workflows()
        if cls.heartbeat is not None and cls.heartbeat.starts_within is not None
    }


def _unbegun(row: Assignment) -> Unbegun | None:
    run = row.run
    heartbeat = heartbeat_of(run.workflow, run.version, run.plan_id)
    if heartbeat is None or heartbeat.starts_within is None:
        return None
    return Unbegun(
        id=run.pk,
        tenant_id=run.tenant_id,
        workflow=run.workflow,
        reference=run.reference,
        placed_at=row.placed_at,
        heartbeat=heartbeat,
    )


def ends_of(run_ids: Iterable[UUID]) -> dict[UUID, Ended]:
    """How these runs stand."""
    rows = Run.objects.filter(pk__in=list(run_ids)).values_list("pk", "state")
    return {
        pk: Ended(state=state, is_over=RunState(state) in OVER or state == RunState.FAILED)
        for pk, state in rows
    }


def workers(*, also: Collection[UUID] = ()) -> list[WorkerLife]:
    """Every worker that nobody has declared gone, and these others."""
    rows = Worker.objects.filter(state=WorkerState.LIVE.value)
    if also:
        rows = rows | Worker.objects.filter(pk__in=list(also))
    found = list(rows.order_by("started_at", "id"))
    now = db_now()
    held = _held_by(found)
    return [
        WorkerLife(
            id=row.pk,
            name=f"{row.host}/{row.pid}",
            cluster=_cluster_of(row),
            state=row.state,
            lives=row.state == WorkerState.LIVE and row.lease_until >= now,
            renewed_at=row.renewed_at,
            ended_at=row.ended_at,
            end_reason=row.end_reason,
            runs=held.get(row.pk, 0),
        )
        for row in found
    ]


def _held_by(found: list[Worker]) -> dict[UUID, int]:
    rows = Run.objects.filter(state=RunState.RUNNING.value, worker__in=found)
    held: dict[UUID, int] = {}
    for worker_id in rows.values_list("worker_id", flat=True):
        if worker_id is not None:
            held[worker_id] = held.get(worker_id, 0) + 1
    return held


def schedules() -> list[ScheduleLife]:
    """Every schedule that was not removed: when it is due, and whether its last run was begun."""
    asked = Schedule.objects.filter(removed_at=None)
    newest = Firing.objects.filter(schedule=OuterRef("pk"), run__isnull=False)
    rows = list(
        asked.annotate(newest_run=Subquery(newest.order_by("-nominal_at").values("run")[:1]))
    )
    placed = dict(
        Assignment.objects.filter(
            run__in=[row.newest_run for row in rows if row.newest_run],
            run__state=RunState.QUEUED.value,
            state=AssignmentState.PLACED.value,
        ).values_list("run_id", "placed_at")
    )
    return [
        ScheduleLife(
            id=row.pk,
            tenant_id=row.tenant_id,
            slug=row.slug,
            workflow=row.workflow,
            due_at=row.due_at,
            enabled=row.enabled,
            grace=_start_grace(row),
            unbegun_since=placed.get(row.newest_run),
        )
        for row in sorted(rows, key=lambda row: row.pk)
    ]


def _start_grace(row: Schedule) -> float:
    """How late its run may begin: what the workflow says, or else the grace of its heartbeat."""
    try:
        declared = (
            registry.get(row.workflow, row.version)
            if row.version
            else registry.latest(row.workflow)
        ).heartbeat
    except registry.UnknownWorkflow:
        declared = None
    if declared is None:
        return LATE_BY_DEFAULT
    return (declared.starts_within or declared.grace).total_seconds()


def ticks(duties: Collection[str]) -> dict[str, datetime]:
    """When each of these duties of the watch last went round."""
    return dict(Tick.objects.filter(pk__in=duties).values_list("duty", "at"))
