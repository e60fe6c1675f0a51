"""What people have delegated to somebody, and until when."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import Group, User
from django.db.models import Q, QuerySet

from approvals.models import Delegation
from approvals.queries.people import DECIDE
from approvals.rules.case import StandIn
from runs.queries.naming import tenants_seen
from runs.queries.people import people_of
from runs.queries.visibility import visible_to
from runs.rules.policy import Actor, Verb, may

SHOWN = 200


class NoSuchDelegation(Exception):
    """There is no such delegation, or it belongs to a tenant that this actor does not see."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Handed:
    """What one person has handed on in one tenant."""

    tenant_id: int
    stand_in: StandIn


def running(now: datetime) -> Q:
    """The condition that a delegation holds at this moment."""
    return Q(since__lte=now, until__gt=now, ended_at__isnull=True)


def handed_to(actor: Actor, *, now: datetime, tenant_id: int | None = None) -> list[Handed]:
    """What this actor may answer in somebody's place; in this tenant, or in each that they see."""
    if actor.user_id is None:
        return []
    rows = visible_to(actor, Delegation.objects.all()).filter(
        running(now), receiver_id=actor.user_id, giver__is_active=True
    )
    if tenant_id is not None:
        rows = rows.filter(tenant_id=tenant_id)
    found = list(rows.select_related("giver").prefetch_related("giver__groups").order_by("pk"))
    return list(_handed(found))


def _handed(rows: Iterable[Delegation]) -> Iterator[Handed]:
    may: dict[int, frozenset[int]] = {}
    for row in rows:
        if row.tenant_id not in may:
            may[row.tenant_id] = _deciding(row.tenant_id, [each.giver_id for each in rows])
        theirs = frozenset(group.name for group in row.giver.groups.all())
        yield Handed(
            tenant_id=row.tenant_id,
            stand_in=StandIn(
                name=row.giver.get_username(),
                user_id=row.giver_id,
                groups=theirs & {row.group} if row.group else theirs,
                in_part=bool(row.group),
                may_decide=row.giver_id in may[row.tenant_id],
                until=row.until,
            ),
        )


def _deciding(tenant_id: int, givers: Iterable[int]) -> frozenset[int]:
    """Who of these may decide in this tenant today; what was handed on is worth no more."""
    people = User.objects.with_perm(DECIDE).filter(people_of(tenant_id), pk__in=set(givers))
    return frozenset(people.values_list("pk", flat=True))


def receivers(*, tenant_id: int, givers: Iterable[int], now: datetime) -> list[int]:
    """Who stands in for any of these people now, to be told what they would be told."""
    rows = Delegation.objects.filter(
        running(now), tenant_id=tenant_id, giver_id__in=list(givers), receiver__is_active=True
    )
    return list(rows.values_list("receiver_id", flat=True).distinct()[:50])


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """One delegation as a page or a command tells it."""

    delegation: Delegation
    running: bool
    may_end: bool

    @property
    def giver(self) -> str:
        return self.delegation.giver.get_username()

    @property
    def receiver(self) -> str:
        return self.delegation.receiver.get_username()

    @property
    def sentence(self) -> str:
        one = self.delegation
        of = f"for “{one.group}”" if one.group else "for each of their groups"
        when = f"until {one.until:%Y-%m-%d %H:%M} UTC"
        over = f", ended by {one.ended_by}" if one.ended_by else "" if self.running else ", over"
        return f"{one.pk}: {self.receiver} answers in the place of {self.giver} {of} {when}{over}."


def shown_to(actor: Actor, *, now: datetime, everything: bool) -> list[Shown]:
    """Those that run first, then those that were over last."""
    rows = visible_delegations(actor)
    if not everything:
        rows = rows.filter(running(now))
    found = [shown(row, now=now, actor=actor) for row in rows[:SHOWN]]
    return sorted(found, key=lambda row: not row.running)


def shown(row: Delegation, *, now: datetime, actor: Actor | None = None) -> Shown:
    runs = row.ended_at is None and row.since <= now < row.until
    own = actor is not None and actor.user_id in (row.giver_id, row.receiver_id)
    may_end = own or (actor is not None and may(actor, Verb.ADMINISTER))
    return Shown(delegation=row, running=runs, may_end=runs and may_end)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """What the form offers: in whose place, who, which group, in which tenant."""

    givers: tuple[str, ...]
    receivers: tuple[str, ...]
    groups: tuple[str, ...]
    tenants: tuple[str, ...]


def choices_of(actor: Actor) -> Choices:
    """Only administrators hand on what is somebody else's."""
    tenants = tenants_seen(actor)
    everybody = Q(pk__in=[])
    for tenant_id in tenants:
        everybody |= people_of(tenant_id)
    people = User.objects.filter(everybody, is_active=True).order_by("username")
    givers = User.objects.with_perm(DECIDE).filter(everybody).order_by("username")
    if not may(actor, Verb.ADMINISTER):
        givers = givers.filter(pk=actor.user_id or 0)
    groups = Group.objects.filter(user__in=givers).order_by("name")
    return Choices(
        givers=tuple(givers.values_list("username", flat=True)[:SHOWN]),
        receivers=tuple(people.values_list("username", flat=True)[:SHOWN]),
        groups=tuple(groups.values_list("name", flat=True).distinct()[:SHOWN]),
        tenants=tuple(tenants.values()),
    )


def visible_delegations(actor: Actor) -> QuerySet[Delegation]:
    """All that this actor may see, the one that ends last first."""
    rows = visible_to(actor, Delegation.objects.all()).select_related("giver", "receiver", "tenant")
    return rows.order_by("-until", "-pk")


def visible_delegation(actor: Actor, delegation_id: int) -> Delegation:
    found = visible_delegations(actor).filter(pk=delegation_id).first()
    if found is None:
        raise NoSuchDelegation(f"There is no delegation {delegation_id}.")
    return found
