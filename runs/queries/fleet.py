"""Many runs at once: those that can move by themselves, and those that were paused together."""

from typing import Any

from django.db.models import QuerySet

from runs.models import Run
from runs.queries.limits import deadline_of_run
from runs.queries.verbs import stands_of
from runs.queries.visibility import visible_runs
from runs.rules.policy import Actor, Verb, require
from runs.rules.states import RunState
from runs.rules.verbs import RunVerb, what_happens, why_not

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


def would_resume(actor: Actor, *, tenant_id: int | None, at_most: int) -> list[dict[str, Any]]:
    """What resuming all would do to each, in the order in which it would be done."""
    require(actor, Verb.OPERATE)
    rows = paused_together(actor, tenant_id=tenant_id).order_by("pk")[:at_most]
    return [_would_resume(run) for run in rows]


def _would_resume(run: Run) -> dict[str, Any]:
    stands, deadline = stands_of(run), deadline_of_run(run)
    refusal = why_not(RunVerb.RESUME, stands)
    if not refusal and deadline is not None and deadline.is_over:
        refusal = (
            "Its deadline is over, so it would stop again at once; give it a longer one alone."
        )
    return {
        "id": str(run.pk),
        "reference": run.reference,
        "state": run.state,
        "step": run.step,
        "refusal": refusal,
        "then": "" if refusal else what_happens(RunVerb.RESUME, stands),
    }
