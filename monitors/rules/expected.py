"""What a monitor expects, in words, and when its next signs of life are due."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import islice
from zoneinfo import ZoneInfo

from monitors.rules.timing import Limits
from runs.rules.schedules import Timing, in_words
from runs.rules.wall_clock import DstPolicy, due_by_cron
from runs.rules.words import span

PREVIEWED = 5


def expectation(limits: Limits, *, now: datetime) -> str:
    """Such as: every 30 s, grace 1 m."""
    if limits.cron:
        when = in_words(Timing(cron=limits.cron, zone=limits.zone, anchor=now))
    elif limits.period is not None:
        when = f"every {said(limits.period)}"
    elif limits.late_start is not None:
        return f"to begin within {said(limits.late_start)}"
    else:
        return "nothing by the clock"
    return f"{when}, grace {said(limits.grace)}"


def said(seconds: float) -> str:
    """As somebody wrote it: 5 s, where a measured one would be 5.0 s."""
    return f"{seconds:g} s" if seconds < 10 else span(seconds)


def usual_gap(limits: Limits, *, now: datetime) -> timedelta | None:
    """How far apart its signs of life are expected."""
    if limits.period is not None:
        return timedelta(seconds=limits.period)
    times = list(islice(next_expected(limits, after=now), 2))
    return times[1] - times[0] if len(times) == 2 else None


def next_expected(limits: Limits, *, after: datetime) -> Iterator[datetime]:
    """The times after `after`, which for a period is the last sign of life."""
    if limits.cron:
        due = due_by_cron(limits.cron, zone=ZoneInfo(limits.zone), dst=DstPolicy.ONCE, after=after)
        yield from (each.at for each in due if each.fires)
    elif limits.period is not None:
        at = after
        while True:
            at += timedelta(seconds=limits.period)
            yield at
