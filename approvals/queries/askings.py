"""What a receiver said when it was asked again from the page."""

from dataclasses import dataclass
from datetime import datetime

from approvals.models import Asking, Decision
from approvals.rules.asked import Asked, asked_of
from runs.engine.asking import may_be_asked
from runs.rules.states import DecisionState

MOST_SHOWN = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class AskingShown:
    """One look-up: when, by whom, what came back."""

    at: datetime
    by: str
    outcome: str
    said: str
    receiver_id: str


def outcome_known(decision: Decision) -> tuple[str, bool]:
    """What the decision's own evidence says of the receiver, and whether a "not found" counts."""
    evidence = asked_of(decision.ask).evidence
    said = evidence if isinstance(evidence, dict) else {}
    return str(said.get("probe", "")), bool(said.get("probe_settled"))


def askings_of(decision: Decision) -> list[AskingShown]:
    """The newest first: of this decision, and of those that it took the place of."""
    rows = Asking.objects.filter(
        decision__run_id=decision.run_id, decision__wait__name=decision.wait.name
    ).order_by("-pk")
    return [
        AskingShown(
            at=row.at,
            by=row.by,
            outcome=row.outcome,
            said=row.said if row.outcome == "unknown" else "",
            receiver_id=row.receiver_id,
        )
        for row in rows[:MOST_SHOWN]
    ]


def can_be_asked(decision: Decision, asked: Asked) -> bool:
    """Whether the page offers to ask: the call may have left, and its effect declares a probe."""
    if decision.state != DecisionState.OPEN.value or asked.call is None:
        return False
    left = asked.call.get("sends", 0) and not asked.call.get("unsent")
    return bool(left) and may_be_asked(decision.run_id, str(asked.call["key"]))
