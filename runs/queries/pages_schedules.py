"""The pages of schedules: when each is due next, what came of the last time, and whether anybody fires."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from zoneinfo import ZoneInfo

from runs.models import Firing, Schedule, Tick
from runs.queries.clock import db_now
from runs.queries.keyset import Position, Slice, slice_of
from runs.queries.schedules import timing_of, visible_schedules
from runs.rules.catching_up import CATCH_UP_SAYS, CatchUp
from runs.rules.overlap import OVERLAP_SAYS, Overlap
from runs.rules.policy import Actor
from runs.rules.schedules import (
    PREVIEWED,
    STREAK,
    ScheduleRefused,
    Wish,
    in_words,
    next_times,
    preview,
    timing_refusals,
)
from runs.rules.wall_clock import Due

SHOWN_NEXT = 3
MOST_LISTED = 500
FIRINGS_A_PAGE = 50
# Later than this with nothing decided, nobody is firing.
OVERDUE_AFTER = timedelta(seconds=15)
DUTY = "schedules"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One schedule as a person reads it."""

    schedule: Schedule
    words: str
    next: Sequence[Due]
    last: Firing | None
    overdue_since: datetime | None

    @property
    def state(self) -> str:
        if not self.schedule.enabled:
            return "paused"
        return "overdue" if self.overdue_since else "on" if self.next else "ended"

    @property
    def is_incident(self) -> bool:
        return self.schedule.skips >= STREAK

    @property
    def overlap_says(self) -> str:
        return OVERLAP_SAYS[Overlap(self.schedule.overlap)]

    @property
    def catch_up_says(self) -> str:
        return CATCH_UP_SAYS[CatchUp(self.schedule.catch_up)]


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedulesPage:
    """`seen_at` is when the duty that fires last went round; None when it never did."""

    rows: Sequence[Row]
    seen_at: datetime | None
    silent: bool
    version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    words: str
    next: Sequence[Due]


def schedules_page(actor: Actor) -> SchedulesPage:
    now, rows = db_now(), every_row(actor)
    seen_at = Tick.objects.filter(duty=DUTY).values_list("at", flat=True).first()
    return SchedulesPage(
        rows=rows,
        seen_at=seen_at,
        silent=bool(rows) and (seen_at is None or now - seen_at > OVERDUE_AFTER),
        version=str(int(now.timestamp()) // 5),
    )


def every_row(actor: Actor) -> list[Row]:
    now = db_now()
    found = visible_schedules(actor).order_by("slug", "pk")[:MOST_LISTED]
    return [row_of(schedule, now=now) for schedule in found]


def row_of(schedule: Schedule, *, now: datetime, amount: int = SHOWN_NEXT) -> Row:
    late = schedule.due_at is not None and now - schedule.due_at > OVERDUE_AFTER
    timing = timing_of(schedule)
    after = schedule.next_at - timedelta(seconds=1) if schedule.next_at else now
    coming = next_times(timing, after=after) if schedule.next_at else iter(())
    return Row(
        schedule=schedule,
        words=in_words(timing),
        next=list(islice(coming, amount)),
        last=Firing.objects.filter(schedule=schedule).order_by("-nominal_at").first(),
        overdue_since=schedule.due_at if late else None,
    )


def named(actor: Actor, slug: str, *, tenant: str = "") -> list[Schedule]:
    rows = visible_schedules(actor).filter(slug=slug)
    return list(rows.filter(tenant__slug=tenant) if tenant else rows)


def one_row(actor: Actor, schedule_id: int) -> Row | None:
    schedule = visible_schedules(actor).filter(pk=schedule_id).first()
    return row_of(schedule, now=db_now(), amount=PREVIEWED) if schedule else None


def last_firings(schedule: Schedule, *, amount: int) -> list[Firing]:
    rows = Firing.objects.filter(schedule=schedule).select_related("run")
    return list(rows.order_by("-nominal_at")[: max(amount, 0)])


def firings_page(schedule: Schedule, position: Position | None) -> Slice[Firing]:
    rows = Firing.objects.filter(schedule=schedule).select_related("run")
    return slice_of(rows, by="nominal_at", position=position, size=FIRINGS_A_PAGE)


def preview_of(wish: Wish) -> Preview:
    """When this would be due from now on; raises ScheduleRefused."""
    if errors := timing_refusals(wish):
        raise ScheduleRefused(errors)
    now = db_now()
    timing = wish.timing(anchor=now)
    return Preview(words=in_words(timing), next=preview(timing, after=now))


def incidents(actor: Actor) -> list[Schedule]:
    """Schedules whose last due times all came to nothing, the worst first."""
    rows = visible_schedules(actor).filter(enabled=True, skips__gte=STREAK)
    return list(rows.order_by("-skips", "pk")[:20])


def last_reason(schedule: Schedule) -> str:
    last = Firing.objects.filter(schedule=schedule).order_by("-nominal_at").first()
    return last.reason if last else ""


def local(due: Due, zone: str) -> str:
    return f"{due.at.astimezone(ZoneInfo(zone)):%a %Y-%m-%d %H:%M:%S %Z}"
