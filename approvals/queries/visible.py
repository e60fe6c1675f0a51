"""Which decisions an actor may see, and which of them wait for this actor."""

from collections.abc import Collection
from datetime import datetime

from django.db.models import Exists, OuterRef, Q, QuerySet

from approvals.models import Audience, Decision, Vote
from approvals.queries.delegations import handed_to
from runs.queries.clock import db_now
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


def is_for(actor: Actor, *, now: datetime | None = None) -> Q:
    """The condition that this actor may answer now; the same as the door's, in SQL."""
    own = _of_groups(actor) if may(actor, Verb.DECIDE) else Q(pk__in=[])
    for handed in handed_to(actor, now=now or db_now()) if actor.user_id else ():
        given = handed.stand_in
        if given.may_decide:
            of_theirs = _named(given.groups) if given.in_part else _unnamed() | _named(given.groups)
            own |= Q(tenant_id=handed.tenant_id) & of_theirs
    return own & ~Q(Exists(_votes_of(actor)))


def _of_groups(actor: Actor) -> Q:
    if actor.administrator:
        return ~Q(pk__in=[])
    return _unnamed() | _named(actor.groups)


def _unnamed() -> Q:
    return ~Q(Exists(Audience.objects.filter(decision=OuterRef("pk"))))


def _named(groups: Collection[str]) -> Q:
    named = Audience.objects.filter(decision=OuterRef("pk"), group__in=sorted(groups))
    return Q(Exists(named))


def _votes_of(actor: Actor) -> QuerySet[Vote]:
    """Who has voted waits with the others for those who have not."""
    counting = Vote.objects.filter(decision=OuterRef("pk"), void_at__isnull=True)
    return counting.filter(Q(by=actor.name) | Q(user_id=actor.user_id, user_id__isnull=False))


def groups_of(decision: Decision) -> frozenset[str]:
    return frozenset(one.group for one in decision.audience.all())
