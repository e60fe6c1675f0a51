"""What the clockwork has to do now, by the database's clock."""

from datetime import timedelta
from uuid import UUID

from django.db.models import Exists, OuterRef

from runs.models import Assignment, Event, Run, Wait
from runs.queries.clock import db_now
from runs.queries.workers import idle_workers
from runs.rules.states import AssignmentState, RunState, WaitKind, WaitState


def waits_due(*, at_most: int) -> list[int]:
    """Open waits whose time is over and whose declared way out is not to stay.

    While its run is paused, the clock of a wait stands.
    """
    rows = Wait.objects.filter(state=WaitState.OPEN.value, due_at__lte=db_now()).exclude(
        on_due="stay"
    )
    rows = rows.exclude(run__state=RunState.PAUSED.value)
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


def restarts_too_late(*, at_most: int) -> list[UUID]:
    """Runs that stand ready to take the place of one which has ended or stopped by itself meanwhile."""
    ready = Run.objects.filter(
        restart_of__isnull=False,
        fence=0,
        state=RunState.WAITING.value,
        waits__state=WaitState.OPEN.value,
        waits__kind=WaitKind.CAPACITY.value,
    ).exclude(restart_of__state=RunState.RUNNING.value)
    return list(ready.values_list("pk", flat=True)[:at_most])


def unclaimed(*, older_than: timedelta) -> list[int]:
    """Placed assignments that nobody took, at most one for each idle worker."""
    rows = Assignment.objects.filter(
        state=AssignmentState.PLACED.value, placed_at__lt=db_now() - older_than
    )
    if not rows.exists():
        return []
    return list(rows.order_by("placed_at", "id").values_list("pk", flat=True)[: idle_workers()])
