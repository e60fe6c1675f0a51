"""What a person who decides about a run has to see of it: its planned calls, its effects so far."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Count, QuerySet

from runs.models import Call, PlannedCall, Step
from runs.rules.states import StepState


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectSoFar:
    """How many calls of one effect are in one state."""

    effect: str
    irreversible: bool
    state: str
    amount: int


def planned_rows(run_id: UUID, *, plan: str, generation: int) -> QuerySet[PlannedCall]:
    """The calls of a sealed list."""
    return PlannedCall.objects.filter(run_id=run_id, plan=plan, generation=generation)


def effects_so_far(run_id: UUID) -> list[EffectSoFar]:
    """What the run has already done outside, counted; what cannot be undone comes first."""
    rows = (
        Call.objects.filter(run_id=run_id)
        .order_by("-irreversible", "effect", "state")
        .values_list("effect", "irreversible", "state")
        .annotate(amount=Count("pk"))
    )
    return [
        EffectSoFar(effect=effect, irreversible=irreversible, state=state, amount=amount)
        for effect, irreversible, state, amount in rows
    ]


def finished_steps(run_id: UUID, *, before: datetime) -> list[str]:
    """The steps that were finished before this moment and whose results stand, in their order."""
    rows = Step.objects.filter(run_id=run_id, superseded=False, state=StepState.SUCCEEDED.value)
    rows = rows.filter(ended_at__lte=before)
    return list(rows.order_by("ordinal").values_list("key", flat=True))
