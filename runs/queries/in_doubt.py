"""Which calls of a run left, while nobody knows whether they happened (I6)."""

from typing import Any
from uuid import UUID

from runs.models import Call
from runs.rules.states import UNSETTLED_CALLS

FIELDS = ("key", "effect", "resource", "step", "state")


def calls_in_doubt(run_id: UUID) -> list[dict[str, Any]]:
    """Each with its key, effect, resource, step and state; what never left the house is no doubt."""
    states = [state.value for state in UNSETTLED_CALLS]
    rows = Call.objects.filter(run_id=run_id, state__in=states, unsent=False).order_by("id")
    return list(rows.values(*FIELDS))
