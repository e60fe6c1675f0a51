"""What the watch does for decisions: which notices, rules and batches are due."""

from approvals.models import BatchItem, Decision, Notice
from runs.queries.clock import db_now
from runs.rules.states import DecisionState, RunState

OPEN = DecisionState.OPEN.value


def notices_due(*, at_most: int) -> list[int]:
    """The earliest first; those of a paused run, or of an answer that waits, stand back.

    Those of closed decisions are among them: their time has come to be put away.
    """
    rows = Notice.objects.filter(told_at=None, due_at__lte=db_now())
    rows = rows.filter(decision__takes_effect_at=None)
    rows = rows.exclude(decision__run__state=RunState.PAUSED.value)
    return list(rows.order_by("due_at", "pk").values_list("pk", flat=True)[:at_most])


def rules_due(*, at_most: int) -> list[int]:
    """Open decisions that a rule is to answer."""
    rows = Decision.objects.filter(state=OPEN, rule__isnull=False)
    return list(rows.order_by("pk").values_list("pk", flat=True)[:at_most])


def batch_items_due(*, at_most: int, behind: int = 0) -> list[int]:
    """What is left of batches that nobody has stopped, the oldest first, behind one of them."""
    rows = BatchItem.objects.filter(outcome="", batch__state="running", pk__gt=behind)
    return list(rows.order_by("pk").values_list("pk", flat=True)[:at_most])
