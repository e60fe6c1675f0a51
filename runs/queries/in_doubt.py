"""Which calls of a run left, while nobody knows whether they happened (I6)."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from runs.models import Call
from runs.rules.states import UNSETTLED_CALLS

FIELDS = ("key", "effect", "resource", "step", "state")


def calls_in_doubt(run_id: UUID) -> list[dict[str, Any]]:
    """Each with its key, effect, resource, step and state; what never left the house is no doubt."""
    return list(_unknown(run_id).order_by("id").values(*FIELDS))


def is_in_doubt(run_id: UUID, *, scope: str) -> bool:
    """Whether any call of a step is; its scope outlives a rename, its key does not (R4)."""
    return _unknown(run_id).filter(scope=scope).exists()


def _unknown(run_id: UUID) -> QuerySet[Call]:
    states = [state.value for state in UNSETTLED_CALLS]
    return Call.objects.filter(run_id=run_id, state__in=states, unsent=False)
