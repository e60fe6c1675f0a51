"""What the clockwork has to do now, by the database's clock."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from django.db.models import Exists, OuterRef

from runs.models import Assignment, Event, Run, Step, Wait
from runs.queries.clock import db_now
from runs.queries.plans import plan_by_hash
from runs.queries.workers import identity_of, idle_workers
from runs.rules.identity import ProcessIdentity
from runs.rules.states import AssignmentState, RunState, WaitKind, WaitState


@dataclass(frozen=True, slots=True, kw_only=True)
class OverdueStep:
    run_id: UUID
    step: str
    identity: ProcessIdentity


def waits_due(*, at_most: int) -> list[int]:
    """Open waits whose time is over and whose declared way out is not to stay."""
    rows = Wait.objects.filter(state=WaitState.OPEN.value, due_at__lte=db_now()).exclude(
        on_due="stay"
    )
    return list(rows.order_by("due_at", "id").values_list("pk", flat=True)[:at_most])


def waits_with_a_kept_event(*, at_most: int) -> list[int]:
    """Open waits for which an unused event is there: no lock can promise that there is none (R14)."""
    kept = Event.objects.filter(
        tenant_id=OuterRef("run__tenant_id"),
        name=OuterRef("event_name"),
        correlation_id=OuterRef("correlation_id"),
        used_by=None,
    )
    rows = Wait.objects.filter(state=WaitState.OPEN.value, kind=WaitKind.EVENT.value)
    return list(rows.filter(Exists(kept)).values_list("pk", flat=True)[:at_most])


def unclaimed(*, older_than: timedelta) -> list[int]:
    """Placed assignments that nobody took, at most one for each idle worker."""
    rows = Assignment.objects.filter(
        state=AssignmentState.PLACED.value, placed_at__lt=db_now() - older_than
    )
    if not rows.exists():
        return []
    return list(rows.order_by("placed_at", "id").values_list("pk", flat=True)[: idle_workers()])


def overdue_steps(*, grace: timedelta) -> list[OverdueStep]:
    """Running steps that are past their declared timeout by more than `grace`."""
    now = db_now()
    running = Run.objects.filter(state=RunState.RUNNING.value).select_related("worker")
    return [_overdue(run) for run in running if _ends_at(run, grace) < now]


def _ends_at(run: Run, grace: timedelta) -> datetime:
    """When the body that is running now has to be over: it began with its claim or its step."""
    timeout = plan_by_hash(run.plan_id).step(run.step).timeout
    if timeout is None:
        return datetime.max.replace(tzinfo=UTC)
    step = Step.objects.filter(run=run, key=run.step, superseded=False).first()
    claim = run.assignments.filter(state=AssignmentState.CLAIMED.value).first()
    if step is None or claim is None or step.started_at is None or claim.claimed_at is None:
        return datetime.max.replace(tzinfo=UTC)  # It has moved on while we looked.
    began = max(step.started_at, claim.claimed_at)
    return began + timedelta(seconds=timeout) + grace


def _overdue(run: Run) -> OverdueStep:
    return OverdueStep(run_id=run.pk, step=run.step, identity=identity_of(run.worker))
