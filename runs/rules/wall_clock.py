"""When a cron expression is due in a time zone, also on days with an hour missing or an hour twice."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from zoneinfo import ZoneInfo

from cronsim import CronSim

DAY, SECOND = timedelta(days=1), timedelta(seconds=1)


class DstPolicy(StrEnum):
    """What becomes of a fixed local time that is skipped, or comes twice, when clocks change.

    A wildcard in the minutes or the hours asks for an interval: it keeps it under every policy.
    """

    ONCE = "once"
    SKIP = "skip"
    BOTH = "both"


DST_SAYS: dict[DstPolicy, str] = {
    DstPolicy.ONCE: "a skipped time is due right after the gap, a repeated one the first time only",
    DstPolicy.SKIP: "a skipped time is left out and noted, a repeated one is due the first time only",
    DstPolicy.BOTH: "a skipped time is due right after the gap, a repeated one both times",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """One nominal time. `fires` is False where the policy leaves it out, for the reason in `note`."""

    at: datetime
    fires: bool = True
    note: str = ""


def due_by_cron(
    expression: str, *, zone: ZoneInfo, dst: DstPolicy, after: datetime
) -> Iterator[Due]:
    """Every nominal time later than `after`, in order; ends when there is none any more."""
    fixed = is_fixed(expression)
    at = after.astimezone(UTC)
    while True:
        first = next(CronSim(expression, _wall(at, zone) - DAY), None)
        if first is None:
            return
        ahead = first - _wall(at, zone)
        if ahead > 2 * DAY:
            # No wall clock shows a match before that, so no change of clocks matters either.
            at += ahead - DAY
            continue
        yield from _within(expression, at, at + DAY, zone=zone, dst=dst, fixed=fixed)
        at += DAY


def is_fixed(expression: str) -> bool:
    """Debian's rule: no wildcard in the minutes nor in the hours."""
    minutes, hours, *_ = expression.split()
    return not minutes.startswith("*") and not hours.startswith("*")


def _within(
    expression: str,
    after: datetime,
    until: datetime,
    *,
    zone: ZoneInfo,
    dst: DstPolicy,
    fixed: bool,
) -> Iterator[Due]:
    """Those in (after, until], a day in which clocks change at most once."""
    change = _change(after, until, zone)
    before = _offset(after, zone)
    if change is None:
        yield from _matches(expression, after, until, before, zone=zone, dst=dst, fixed=fixed)
        return
    last = change - SECOND
    yield from _matches(expression, after, last, before, zone=zone, dst=dst, fixed=fixed)
    then = _offset(change, zone)
    missing = _missing(expression, change, before, then) if fixed else []
    rest = _matches(expression, last, until, then, zone=zone, dst=dst, fixed=fixed)
    yield from _with_missing(missing, rest, change=change, dst=dst, wall=_wall(change, zone))


def _matches(
    expression: str,
    after: datetime,
    until: datetime,
    offset: timedelta,
    *,
    zone: ZoneInfo,
    dst: DstPolicy,
    fixed: bool,
) -> Iterator[Due]:
    """Those in (after, until], between which the offset stays the same."""
    for wall in CronSim(expression, _naive(after, offset)):
        at = (wall - offset).replace(tzinfo=UTC)
        if at > until:
            return
        second_time = fixed and at.astimezone(zone).fold == 1
        if not second_time:
            yield Due(at=at)
        elif dst is DstPolicy.BOTH:
            yield Due(at=at, note=f"{wall:%H:%M} comes for the second time on {wall:%Y-%m-%d}")


def _missing(
    expression: str, change: datetime, before: timedelta, then: timedelta
) -> list[datetime]:
    """The local times that no clock shows because it was put forward."""
    found = []
    for wall in CronSim(expression, _naive(change, before) - SECOND):
        if wall >= _naive(change, then):
            break
        found.append(wall)
    return found


def _with_missing(
    missing: list[datetime],
    rest: Iterator[Due],
    *,
    change: datetime,
    dst: DstPolicy,
    wall: datetime,
) -> Iterator[Due]:
    if not missing:
        yield from rest
        return
    named = " and ".join(f"{each:%H:%M}" for each in missing)
    note = f"{named} does not exist on {wall:%Y-%m-%d}: clocks are put forward to {wall:%H:%M}"
    moved = Due(at=change, fires=dst is not DstPolicy.SKIP, note=note)
    following = next(rest, None)
    if following is not None and following.at == change:
        yield Due(at=change, note=note)
    else:
        yield moved
        if following is not None:
            yield following
    yield from rest


def _change(after: datetime, until: datetime, zone: ZoneInfo) -> datetime | None:
    """The first second of the new offset, if it changes in (after, until]."""
    low, high = after.replace(microsecond=0), until.replace(microsecond=0)
    old = _offset(low, zone)
    if _offset(high, zone) == old:
        return None
    while high - low > SECOND:
        middle = low + timedelta(seconds=int((high - low).total_seconds()) // 2)
        low, high = (middle, high) if _offset(middle, zone) == old else (low, middle)
    return high


def _offset(at: datetime, zone: ZoneInfo) -> timedelta:
    return at.astimezone(zone).utcoffset() or timedelta(0)


def _wall(at: datetime, zone: ZoneInfo) -> datetime:
    return at.astimezone(zone).replace(tzinfo=None, fold=0)


def _naive(at: datetime, offset: timedelta) -> datetime:
    return at.replace(tzinfo=None) + offset
