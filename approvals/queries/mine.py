"""Which of the open decisions wait for this actor."""

from collections.abc import Collection
from datetime import datetime

from django.db.models import Exists, OuterRef, Q, QuerySet

from approvals.models import Audience, Decision, Requester, Vote
from approvals.queries.cases import case_of
from approvals.queries.delegations import handed_to
from approvals.queries.visible import open_decisions
from approvals.rules.case import LOCAL
from approvals.rules.door import needs_another
from runs.queries.clock import db_now
from runs.rules.policy import Actor, Verb, may

MOST_OWN = 100


def is_for(actor: Actor, *, now: datetime | None = None) -> Q:
    """The condition that this actor may answer now; the same as the door's, in SQL."""
    now = now or db_now()
    own = _of_groups(actor) if may(actor, Verb.DECIDE) else Q(pk__in=[])
    for handed in handed_to(actor, now=now):
        given = handed.stand_in
        if given.may_decide:
            of_theirs = _named(given.groups) if given.in_part else _unnamed() | _named(given.groups)
            own |= Q(tenant_id=handed.tenant_id) & of_theirs
    return own & ~Q(Exists(_votes_of(actor))) & ~Q(pk__in=_left_to_others(actor, now=now))


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
    """Who has voted, or for whom somebody has, waits with the others for those who have not."""
    counting = Vote.objects.filter(decision=OuterRef("pk"), void_at__isnull=True)
    own = Q(user_id=actor.user_id) | Q(voice_id=actor.user_id) if actor.user_id else Q(pk__in=[])
    return counting.filter(Q(by__in=_names_of(actor)) | own)


def _names_of(actor: Actor) -> set[str]:
    """An account of this machine is the person who signs in by that name."""
    return {actor.name, actor.name.removeprefix(LOCAL), f"{LOCAL}{actor.name}"}


def _left_to_others(actor: Actor, *, now: datetime) -> list[int]:
    """What this actor has a part in asking for, and could only say no to."""
    names = _names_of(actor)
    part = Requester.objects.filter(name__in=names).values("decision_id")
    own = open_decisions(actor).filter(Q(run__started_by__in=names) | Q(pk__in=part))
    rows = (
        own.select_related("run")
        .prefetch_related("audience")
        .order_by("urgent_at", "pk")[:MOST_OWN]
    )
    return [row.pk for row in rows if _takes_another(actor, row, now=now)]


def _takes_another(actor: Actor, decision: Decision, *, now: datetime) -> bool:
    case = case_of(actor, decision, now=now)
    on = [option for option in case.asked.options if not option.ends_the_run]
    return bool(on) and all(needs_another(actor, case, option) for option in on)
