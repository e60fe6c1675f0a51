"""When a monitor is expected and when it goes down, counted from a time."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from monitors.rules.received import next_by_cron


class Limits(Protocol):
    """What a monitor, or the wish for one, says about time. Durations are seconds."""

    @property
    def period(self) -> float | None: ...
    @property
    def cron(self) -> str: ...
    @property
    def zone(self) -> str: ...
    @property
    def grace(self) -> float: ...
    @property
    def late_start(self) -> float | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """`first_at` is when one that was never pinged is too late."""

    expected_at: datetime | None
    alert_at: datetime | None
    first_at: datetime | None


def times_of(limits: Limits, *, since: datetime) -> Times:
    """`since` is the last success, the end of a pause, or when the monitor was made."""
    expected = next_by_cron(limits.cron, limits.zone, after=since)
    if limits.period is not None:
        expected = since + timedelta(seconds=limits.period)
    late = limits.late_start
    return Times(
        expected_at=expected,
        alert_at=expected + timedelta(seconds=limits.grace) if expected else None,
        first_at=since + timedelta(seconds=late) if late is not None else None,
    )
