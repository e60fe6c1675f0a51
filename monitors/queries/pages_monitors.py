"""The list of monitors: down first, then late, then by name, each with its last beats in slots."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from django.db.models import Case, Value, When
from django.db.models.functions import Lower
from django.utils import timezone

from monitors.models import Monitor, VerdictChange
from monitors.queries.seen_beats import Seen, seen_of
from monitors.queries.told_by import Route, routes_of
from monitors.queries.visible import visible_monitors
from monitors.queries.watching import last_changes
from monitors.queries.windows import maintained_until
from monitors.rules.bars import Bar, bars_of, text_of
from monitors.rules.beats import Stretch, slots_of, uptime
from monitors.rules.expected import expectation, usual_gap
from monitors.rules.states import MonitorState
from monitors.rules.two_facts import database_fact, heartbeat_fact
from runs.queries.clock import db_now
from runs.queries.keyset import count_up_to
from runs.queries.workers import last_tick
from runs.rules import canonical
from runs.rules.policy import Actor

SLOTS = 40
SHORTEST_SLOT, UNKNOWN_SLOT = timedelta(seconds=5), timedelta(hours=1)
MOST_LISTED = 200
UPTIME = timedelta(days=30)
ORDER = ("down", "late", "up", "new", "paused")
# The duties of the watch that these pages live by, and for how long each may be unheard.
DUTIES = ("judge", "alerts", "clockwork", "courier mail")
SILENT_AFTER = timedelta(seconds=20)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One monitor as a person reads it."""

    monitor: Monitor
    expects: str
    bars: Sequence[Bar]
    bars_say: str
    uptime: float | None
    said: VerdictChange | None
    heartbeat: str
    database: str
    told_by: Sequence[Route]
    muted_until: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Duty:
    """One duty of the watch, and when it last went round."""

    name: str
    seen_at: datetime | None
    silent: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorsPage:
    rows: Sequence[Row]
    amount: int
    counts: Mapping[str, int]
    duties: Sequence[Duty]
    version: str

    @property
    def cut(self) -> int:
        return self.amount - len(self.rows)

    @property
    def judge(self) -> Duty:
        return self.duties[0]


def monitors_page(actor: Actor, *, kind: str = "", tag: str = "") -> MonitorsPage:
    now = db_now()
    rows = visible_monitors(actor)
    if kind:
        rows = rows.filter(kind=kind)
    if tag:
        rows = rows.filter(tags__contains=tag)
    states = list(rows.values_list("state", flat=True))
    ranks = [When(state=state, then=Value(rank)) for rank, state in enumerate(ORDER)]
    listed = rows.annotate(rank=Case(*ranks, default=Value(9)), folded=Lower("name"))
    found = list(listed.order_by("rank", "folded", "pk")[:MOST_LISTED])
    return MonitorsPage(
        rows=rows_of(found, now=now),
        amount=len(states),
        counts={state: states.count(state) for state in ORDER if state in states},
        duties=duties(now=now),
        version=str(int(now.timestamp()) // 5),
    )


def rows_of(monitors: Sequence[Monitor], *, now: datetime) -> list[Row]:
    seen = seen_of(monitors, since=now - UPTIME, now=now, newest=2 * SLOTS)
    said = last_changes([each.pk for each in monitors])
    routes, muted = routes_of(monitors), maintained_until(monitors, now=now)
    rows = [_row(each, seen[each.pk], said.get(each.pk), now=now) for each in monitors]
    return [
        replace(row, told_by=routes[row.monitor.pk], muted_until=muted.get(row.monitor.pk))
        for row in rows
    ]


def _row(monitor: Monitor, seen: Seen, said: VerdictChange | None, *, now: datetime) -> Row:
    usual = usual_gap(monitor, now=now)
    stretch = Stretch(until=now, each=max(usual or UNKNOWN_SLOT, SHORTEST_SLOT), amount=SLOTS)
    slots = slots_of(stretch, spells=seen.spells, beats=seen.beats, expected=usual)
    return Row(
        monitor=monitor,
        expects=expectation(monitor, now=now),
        bars=bars_of(slots, allowed=allowed_gap(monitor, usual), clock=clock),
        bars_say=text_of(slots, clock=clock),
        uptime=uptime(seen.spells, start=now - UPTIME, end=now),
        said=said,
        heartbeat=heartbeat_fact(monitor.last_ping_at, now=now),
        database=database_fact(canonical.loads(said.facts), judged_at=said.at) if said else "",
        told_by=(),
        muted_until=None,
    )


def allowed_gap(monitor: Monitor, usual: timedelta | None) -> timedelta | None:
    return usual + timedelta(seconds=monitor.grace) if usual else None


def clock(at: datetime) -> str:
    """In the zone that the page is read in."""
    return f"{timezone.localtime(at):%d %b %H:%M:%S}"


def duties(*, now: datetime) -> list[Duty]:
    return [
        Duty(name=name, seen_at=at, silent=at is None or now - at > SILENT_AFTER)
        for name in DUTIES
        for at in [last_tick(name)]
    ]


def count_down(actor: Actor) -> int:
    return count_up_to(visible_monitors(actor).filter(state=MonitorState.DOWN.value), cap=99)
