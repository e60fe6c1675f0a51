"""Which decisions an actor may see, and which of them wait for this actor."""

from django.db.models import Exists, OuterRef, Q, QuerySet

from approvals.models import Audience, Decision
from approvals.rules.asked import asked_of
from approvals.rules.door import Case
from runs.queries.visibility import visible_to
from runs.rules.policy import Actor, Verb, may
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


def is_for(actor: Actor) -> Q:
    """The condition that this actor's groups may answer; the same as the door's, in SQL."""
    if not may(actor, Verb.DECIDE):
        return Q(pk__in=[])
    if actor.administrator:
        return ~Q(pk__in=[])
    named = Audience.objects.filter(decision=OuterRef("pk"))
    return ~Exists(named) | Q(Exists(named.filter(group__in=sorted(actor.groups))))


def groups_of(decision: Decision) -> frozenset[str]:
    return frozenset(one.group for one in decision.audience.all())


def case_of(decision: Decision) -> Case:
    """What the door needs to know."""
    return Case(groups=groups_of(decision), asked=asked_of(decision.ask))
