"""The tabs of the list of decisions: for whom each is, and what a filter leaves of it."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Exists, Max, OuterRef, Q, QuerySet

from approvals.models import Claim, Decision
from approvals.queries.inbox import Lines, lines_of, version_of
from approvals.queries.visible import open_decisions, visible_decisions
from runs.queries.keyset import Position, count_up_to
from runs.rules.policy import Actor

CAP = 99
WINDOWS: dict[str, tuple[str, timedelta | None]] = {
    "7d": ("last 7 days", timedelta(days=7)),
    "30d": ("last 30 days", timedelta(days=30)),
    "all": ("all", None),
}
LABELS = {
    "mine": "For you",
    "reading": "Read by others",
    "others": "For others",
    "closed": "Closed",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is asked of the list; each empty word asks nothing."""

    workflow: str = ""
    kind: str = ""
    risk: str = ""
    text: str = ""
    within: timedelta | None = WINDOWS["7d"][1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tab:
    """`amount` is counted no further than one past 99, by the same query as its list."""

    name: str
    label: str
    amount: int


def tabs(actor: Actor, wanted: Wanted, *, mine: Q, now: datetime) -> list[Tab]:
    """Each with what the filter leaves of it; `mine` is the condition that one is for the actor."""
    return [
        Tab(name=name, label=label, amount=count_up_to(found, cap=CAP))
        for name, label in LABELS.items()
        for found in (rows(actor, name, wanted, now=now, mine=mine),)
    ]


def page_of(
    actor: Actor,
    tab: str,
    wanted: Wanted,
    position: Position | None,
    *,
    mine: Q,
    now: datetime,
) -> Lines:
    """Open ones by what a clock will close first, then by age; closed ones by when, newest first."""
    found = rows(actor, tab, wanted, now=now, mine=mine)
    if tab == "closed":
        return lines_of(found, position, by="closed_at", descending=True)
    return lines_of(found, position)


def rows(actor: Actor, tab: str, wanted: Wanted, *, now: datetime, mine: Q) -> QuerySet[Decision]:
    found = _OF_TAB[tab](actor, mine & Q(takes_effect_at=None), now)
    if tab == "closed" and wanted.within is not None:
        found = found.filter(closed_at__gte=now - wanted.within)
    if wanted.workflow:
        found = found.filter(workflow=wanted.workflow)
    if wanted.kind:
        found = found.filter(kind=wanted.kind)
    if wanted.risk:
        found = found.filter(irreversible=wanted.risk == "irreversible")
    if wanted.text:
        named = Q(question__icontains=wanted.text) | Q(run__reference__icontains=wanted.text)
        found = found.filter(named)
    return found


def version(actor: Actor, tab: str) -> str:
    """Changes with everything that may move a line of this tab."""
    opened = version_of(actor)
    if tab != "closed":
        return opened
    last = visible_decisions(actor).aggregate(at=Max("closed_at"))["at"]
    return f"{opened}-{last.timestamp() if last else 0}"


def _mine(actor: Actor, mine: Q, now: datetime) -> QuerySet[Decision]:
    return open_decisions(actor).filter(mine).exclude(_read_by_others(actor, now))


def _reading(actor: Actor, mine: Q, now: datetime) -> QuerySet[Decision]:
    return open_decisions(actor).filter(mine).filter(_read_by_others(actor, now))


def _others(actor: Actor, mine: Q, now: datetime) -> QuerySet[Decision]:
    return open_decisions(actor).exclude(mine)


def _closed(actor: Actor, mine: Q, now: datetime) -> QuerySet[Decision]:
    return visible_decisions(actor).filter(closed_at__isnull=False)


def _read_by_others(actor: Actor, now: datetime) -> Q:
    living = Claim.objects.filter(decision=OuterRef("pk"), ended_at=None, until__gt=now)
    return Q(Exists(living.exclude(by=actor.name)))


_OF_TAB: dict[str, Callable[[Actor, Q, datetime], QuerySet[Decision]]] = {
    "mine": _mine,
    "reading": _reading,
    "others": _others,
    "closed": _closed,
}
