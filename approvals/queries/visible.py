"""Which decisions an actor may see."""

from django.db.models import QuerySet

from approvals.models import Decision
from runs.queries.visibility import visible_to
from runs.rules.policy import Actor
from runs.rules.states import DecisionState


class NoSuchDecision(Exception):
    """There is no such decision, or it belongs to a tenant that this actor does not see."""


def visible_decisions(actor: Actor) -> QuerySet[Decision]:
    return visible_to(actor, Decision.objects.all())


def visible_decision(actor: Actor, decision_id: int) -> Decision:
    found = (
        visible_decisions(actor)
        .filter(pk=decision_id)
        .select_related("run", "wait")
        .prefetch_related("audience")
        .first()
    )
    if found is None:
        raise NoSuchDecision(f"There is no decision {decision_id}.")
    return found


def decision_of_wait(actor: Actor, wait_id: int) -> Decision:
    found = visible_decisions(actor).filter(wait_id=wait_id).first()
    if found is None:
        raise NoSuchDecision(f"Nothing is asked with wait {wait_id}.")
    return found


def open_decisions(actor: Actor) -> QuerySet[Decision]:
    return visible_decisions(actor).filter(state=DecisionState.OPEN.value)


def groups_of(decision: Decision) -> frozenset[str]:
    return frozenset(one.group for one in decision.audience.all())
