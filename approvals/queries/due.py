"""What the clockwork does for decisions: which notices, rules and batches are due."""

from approvals.models import BatchItem, Decision, Notice
from runs.queries.clock import db_now
from runs.rules.states import DecisionState, RunState

OPEN = DecisionState.OPEN.value


def notices_due(*, at_most: int) -> list[int]:
    """Of open decisions whose run is not paused, the earliest first."""
    rows = Notice.objects.filter(
        told_at=None, due_at__lte=db_now(), decision__state=OPEN, decision__takes_effect_at=None
    ).exclude(decision__run__state=RunState.PAUSED.value)
    return list(rows.order_by("due_at", "pk").values_list("pk", flat=True)[:at_most])


def rules_due(*, at_most: int) -> list[int]:
    """Open decisions that a rule is to answer."""
    rows = Decision.objects.filter(state=OPEN, rule__isnull=False)
    return list(rows.order_by("pk").values_list("pk", flat=True)[:at_most])


def batch_items_due(*, at_most: int) -> list[int]:
    """What is left of batches that nobody has stopped, the oldest batch first."""
    rows = BatchItem.objects.filter(outcome="", batch__state="running")
    return list(rows.order_by("batch_id", "pk").values_list("pk", flat=True)[:at_most])
