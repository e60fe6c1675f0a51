"""Many runs at once: those that can move by themselves, and those that were paused together."""

from django.db.models import QuerySet

from runs.models import Run
from runs.queries.visibility import visible_runs
from runs.rules.policy import Actor
from runs.rules.states import RunState

MOVING = (RunState.QUEUED.value, RunState.RUNNING.value, RunState.WAITING.value)


def movable(actor: Actor, *, tenant_id: int | None) -> QuerySet[Run]:
    """What pausing all would pause: whatever has begun, is not final and does not stand still.

    What stands ready to take another run's place has not begun.
    """
    rows = (
        visible_runs(actor)
        .filter(
            state__in=MOVING,
            pause_requested=False,
            cancel_requested=False,
            supersede_requested=False,
        )
        .exclude(restart_of__isnull=False, state=RunState.WAITING.value, fence=0)
    )
    return rows if tenant_id is None else rows.filter(tenant_id=tenant_id)


def paused_together(actor: Actor, *, tenant_id: int | None) -> QuerySet[Run]:
    """What pausing all has paused, or asked to pause, and nobody has resumed since."""
    rows = visible_runs(actor).filter(paused_with__isnull=False)
    rows = rows.filter(state__in=[RunState.PAUSED.value, RunState.RUNNING.value])
    return rows if tenant_id is None else rows.filter(tenant_id=tenant_id)
