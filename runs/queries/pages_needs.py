"""Which runs need a person now, the most costly delay first."""

from django.db.models import Q, QuerySet

from runs.models import Run
from runs.rules.policy import Actor
from runs.rules.states import RunState, WaitKind, WaitState


def needing_somebody(actor: Actor) -> QuerySet[Run]:
    """Runs with an open decision, and failed ones: both stand still until somebody acts."""
    asks = Q(
        state=RunState.WAITING.value,
        waits__state=WaitState.OPEN.value,
        waits__kind=WaitKind.DECISION.value,
    )
    return Run.objects.filter(asks | Q(state=RunState.FAILED.value))


def asking(actor: Actor) -> QuerySet[Run]:
    """Runs that have put a question to a person."""
    return Run.objects.filter(
        state=RunState.WAITING.value,
        waits__state=WaitState.OPEN.value,
        waits__kind=WaitKind.DECISION.value,
    )
