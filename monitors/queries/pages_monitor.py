"""One monitor: its beats over a day, a week, a quarter; its gaps, incidents, events, what beats here."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice

from django.db.models import QuerySet

from monitors.models import Incident, MaintenanceWindow, Monitor, Ping, VerdictChange
from monitors.queries.incidents import incidents_of_monitor
from monitors.queries.pages_monitors import Row, allowed_gap, clock, rows_of
from monitors.queries.seen_beats import seen_of
from monitors.queries.visible import visible_monitors
from monitors.queries.windows import visible_windows
from monitors.rules.bars import Bar, Bin, bars_of, histogram, text_of
from monitors.rules.beats import Stretch, gaps_of, slots_of
from monitors.rules.expected import PREVIEWED, next_expected, usual_gap
from monitors.rules.states import MonitorState, PingKind
from monitors.rules.windows import is_for, open_until
from runs.queries.clock import db_now
from runs.queries.keyset import Position, Slice, slice_of
from runs.rules.policy import Actor
from runs.rules.words import span

NEWEST = 3000
GAPS = 200
EVENTS_A_PAGE = 50
RIDS = 10
SHOWN_WINDOWS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """How far back a bar reaches, in how many slots of which length."""

    name: str
    key: str
    each: timedelta
    amount: int

    @property
    def length(self) -> timedelta:
        return self.each * self.amount


RANGES = {
    each.name: each
    for each in (
        Range(name="24h", key="1", each=timedelta(minutes=15), amount=96),
        Range(name="7d", key="2", each=timedelta(hours=2), amount=84),
        Range(name="90d", key="3", each=timedelta(days=1), amount=90),
    )
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """A bar over a range, and what it shows in words."""

    range: Range
    start: datetime
    until: datetime
    bars: Sequence[Bar]
    says: str
    each: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorPage:
    row: Row
    drawn: Drawn
    gaps: Sequence[Bin]
    gaps_say: str
    incidents: Sequence[Incident]
    next: Sequence[datetime]
    windows: Sequence[MaintenanceWindow]
    rids: Sequence[Ping]
    muted_here: bool
    version: str

    @property
    def monitor(self) -> Monitor:
        return self.row.monitor


def one_monitor(actor: Actor, monitor_id: int) -> Monitor | None:
    return visible_monitors(actor).filter(pk=monitor_id).first()


def monitor_page(actor: Actor, monitor: Monitor, *, range_: Range) -> MonitorPage:
    now = db_now()
    (row,) = rows_of([monitor], now=now)
    windows = _windows(actor, monitor)
    seen = seen_of([monitor], since=now - range_.length, now=now, newest=NEWEST)[monitor.pk]
    usual = usual_gap(monitor, now=now)
    stretch = Stretch(until=now, each=range_.each, amount=range_.amount)
    slots = slots_of(stretch, spells=seen.spells, beats=seen.beats, expected=usual)
    allowed = allowed_gap(monitor, usual)
    gaps = gaps_of(seen.beats[-GAPS - 1 :])
    return MonitorPage(
        row=row,
        drawn=Drawn(
            range=range_,
            start=stretch.start,
            until=now,
            bars=bars_of(slots, allowed=allowed, clock=clock),
            says=text_of(slots, clock=clock),
            each=span(range_.each),
        ),
        gaps=histogram(gaps, allowed=allowed),
        gaps_say=_gaps_say(gaps, allowed),
        incidents=incidents_of_monitor(actor, monitor.pk),
        next=_next(monitor, now=now),
        windows=windows,
        rids=list(_rids(monitor)),
        muted_here=any(each.monitor_id and open_until(each, at=now) for each in windows),
        version=f"{monitor.seq}-{int(now.timestamp()) // 5}",
    )


def _gaps_say(gaps: Sequence[timedelta], allowed: timedelta | None) -> str:
    if not gaps:
        return "Not two beats yet."
    half, longest = span(sorted(gaps)[len(gaps) // 2]), span(max(gaps))
    said = f"Of the last {len(gaps)} gaps half were up to {half}, the longest {longest}"
    if len(gaps) == 1:
        said = f"One gap so far, of {longest}"
    return f"{said}; after {span(allowed)} it alerts." if allowed else f"{said}."


def _next(monitor: Monitor, *, now: datetime) -> list[datetime]:
    """By cron from now on; by period from the last beat on, unless that is overdue."""
    if monitor.state == MonitorState.PAUSED.value:
        return []
    after = now if monitor.cron else monitor.last_ping_at
    times = islice(next_expected(monitor, after=after), PREVIEWED) if after else ()
    return [at for at in times if at > now]


def _windows(actor: Actor, monitor: Monitor) -> list[MaintenanceWindow]:
    """Those that are for it and not over, the latest first."""
    now = db_now()
    found = visible_windows(actor).filter(tenant=monitor.tenant_id)
    open_ = [each for each in found[:200] if each.ends_at is None or each.ends_at > now]
    tags = monitor.tags.split()
    return [each for each in open_ if is_for(each, monitor_id=monitor.pk, tags=tags)][
        :SHOWN_WINDOWS
    ]


def _rids(monitor: Monitor) -> QuerySet[Ping]:
    """The last pings that named a run of what is watched."""
    rows = Ping.objects.filter(monitor=monitor, rid__isnull=False)
    return rows.exclude(kind=PingKind.START.value).order_by("-n")[:RIDS]


def beats_page(monitor: Monitor, position: Position | None) -> Slice[Ping]:
    rows = Ping.objects.filter(monitor=monitor).defer("body")
    return slice_of(rows, by="n", position=position, size=EVENTS_A_PAGE)


def changes_page(
    monitor: Monitor, position: Position | None, *, misses: bool
) -> Slice[VerdictChange]:
    rows = VerdictChange.objects.filter(monitor=monitor)
    if misses:
        rows = rows.filter(state=MonitorState.DOWN.value)
    return slice_of(rows, by="seq", position=position, size=EVENTS_A_PAGE)
