"""A firing that was to replace a run learns that there was nothing to replace, or that it cannot."""

from django.db.models import QuerySet

from runs.models import Firing, Run
from runs.rules.schedules import FiringState


def nothing(new: Run, *, because: str) -> bool:
    """The old run ended by itself, so this is a start like any other; False for no firing's run."""
    return bool(_replacing(new).update(state=FiringState.STARTED.value, reason=because))


def given_up(new: Run, *, because: str) -> bool:
    """The old run cannot be superseded, so the new one never begins; False for no firing's run."""
    return bool(_replacing(new).update(state=FiringState.SKIPPED.value, reason=because))


def _replacing(new: Run) -> QuerySet[Firing]:
    return Firing.objects.filter(run=new, state=FiringState.REPLACED.value)
