"""What is placed and not yet claimed."""

from runs.models import Assignment
from runs.queries.clock import db_now
from runs.rules.states import AssignmentState


def oldest_unclaimed_age() -> float | None:
    """Seconds since the oldest placed assignment was placed; None when none waits."""
    placed_at = (
        Assignment.objects.filter(state=AssignmentState.PLACED.value)
        .order_by("placed_at")
        .values_list("placed_at", flat=True)
        .first()
    )
    return None if placed_at is None else (db_now() - placed_at).total_seconds()
