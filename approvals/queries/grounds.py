"""Whether what a decision rested on still is so, and what took its place."""

from approvals.models import Decision, Ground
from approvals.rules.ground import Moved, moved
from runs.queries.ground import ground_of
from runs.rules import canonical
from runs.rules.states import DecisionState


def moved_under(decision: Decision) -> list[Moved]:
    """What has changed since an open decision was opened; nothing for one that is closed."""
    if decision.state != DecisionState.OPEN.value:
        return []
    kept = Ground.objects.filter(decision=decision).first()
    if kept is None:
        return []
    return moved(canonical.loads(kept.facts), ground_of(decision.run_id))


def successor_of(decision: Decision) -> Decision | None:
    """The decision that asks anew what this one asked, where one does."""
    if decision.state != DecisionState.SUPERSEDED.value:
        return None
    later = Decision.objects.filter(
        run_id=decision.run_id, wait__name=decision.wait.name, pk__gt=decision.pk
    )
    return later.order_by("pk").first()
