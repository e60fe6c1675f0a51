"""What a ping makes of a monitor: the one table that both databases follow.

SQLite is told what this module says; `monitors/ledger/postgresql.sql` says the same in one
statement, and a test compares the two under invented pings.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from uuid import UUID

from monitors.rules.states import MonitorState, PingKind, Verdict

DONE = (PingKind.SUCCESS, PingKind.FAIL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Beat:
    """Who sent a ping of Milepost's own, under which fence, as which of its beats."""

    fence: int
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What is known of a monitor before a ping, or after it. Durations are seconds."""

    state: str
    state_since: datetime
    verdict: str
    seq: int
    n_pings: int
    period: float | None
    grace: float
    longest: float | None
    post_only: bool
    manual_resume: bool
    paused_at: datetime | None
    paused_until: datetime | None
    last_ping_at: datetime | None
    last_start_at: datetime | None
    last_start_rid: UUID | None
    last_duration: float | None
    expected_at: datetime | None
    alert_at: datetime | None
    judge_at: datetime | None
    fence: int | None
    beat_number: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """A ping as it came in, at `at` by the database's clock."""

    kind: PingKind
    at: datetime
    method: str = "GET"
    rid: UUID | None = None
    beat: Beat | None = None
    sent_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What became of a ping: how the monitor stands now, and what is written down."""

    after: Standing
    kind: PingKind
    suspicious: str = ""
    duration: float | None = None


def take(
    before: Standing,
    given: Given,
    *,
    next_at: datetime | None,
    started: Callable[[UUID], datetime | None],
) -> Taken:
    """`next_at` is the next time by cron; `started` finds the start of a run id."""
    counted = replace(before, n_pings=before.n_pings + 1)
    if reason := suspicion(before, given):
        return Taken(after=counted, kind=given.kind, suspicious=reason)
    if given.beat is not None:
        counted = replace(counted, fence=given.beat.fence, beat_number=given.beat.number)
    if ignored(before, given):
        return Taken(after=counted, kind=PingKind.IGNORED)
    if given.kind is PingKind.START:
        return Taken(after=_started(counted, given), kind=given.kind)
    if given.kind in DONE:
        return _done(counted, given, next_at=next_at, started=started)
    return Taken(after=counted, kind=given.kind)


def suspicion(before: Standing, given: Given) -> str:
    """Why a ping must not count: no beat where beats are expected, or one that is older."""
    if before.fence is None:
        return ""
    if given.beat is None:
        return "alien"
    if given.beat.fence < before.fence:
        return "old_fence"
    if given.beat.fence == before.fence and given.beat.number <= (before.beat_number or 0):
        return "late" if given.sent_at else "old_number"
    return ""


def ignored(before: Standing, given: Given) -> bool:
    """Whether this monitor takes no notice: POST alone counts, or it is paused for good."""
    paused = before.state == MonitorState.PAUSED and (
        before.manual_resume or before.paused_until is not None
    )
    refused = before.post_only and given.method != "POST"
    return paused or refused or given.kind is PingKind.IGNORED


def _started(before: Standing, given: Given) -> Standing:
    after = replace(before, last_start_at=given.at, last_start_rid=given.rid)
    if before.state in (MonitorState.DOWN, MonitorState.PAUSED):
        return after
    return _looked_at_by(replace(after, alert_at=_earliest(before.alert_at, too_long_at(after))))


def _done(
    before: Standing,
    given: Given,
    *,
    next_at: datetime | None,
    started: Callable[[UUID], datetime | None],
) -> Taken:
    duration, after = _duration(before, given, started)
    up = given.kind is PingKind.SUCCESS
    state = (MonitorState.UP if up else MonitorState.DOWN).value
    if state != before.state:
        after = replace(after, state=state, state_since=given.at, seq=before.seq + 1)
    after = replace(
        after,
        last_ping_at=given.at,
        last_duration=duration,
        paused_at=None,
        expected_at=(next_at or after_period(before, given.at)) if up else None,
    )
    after = replace(after, alert_at=goes_down_at(after) if up else given.at)
    news = state != before.state or (up and before.verdict != Verdict.ALIVE)
    if news:
        after = replace(after, judge_at=_earliest(before.judge_at, given.at))
    return Taken(after=_looked_at_by(after), kind=given.kind, duration=duration)


def _duration(
    before: Standing, given: Given, started: Callable[[UUID], datetime | None]
) -> tuple[float | None, Standing]:
    """From the start with the same run id; another run's start stays open unless this one failed."""
    began, after = None, before
    if before.last_start_at is not None and before.last_start_rid == given.rid:
        began, after = before.last_start_at, _not_started(before)
    else:
        began = started(given.rid) if given.rid is not None else None
        if given.kind is PingKind.FAIL or given.rid is None:
            after = _not_started(before)
    return (given.at - began).total_seconds() if began else None, after


def _not_started(before: Standing) -> Standing:
    return replace(before, last_start_at=None, last_start_rid=None)


def after_period(monitor: Standing, at: datetime) -> datetime | None:
    return at + timedelta(seconds=monitor.period) if monitor.period is not None else None


def too_long_at(monitor: Standing) -> datetime | None:
    """When the run that has begun takes too long; without a limit of its own the grace is one."""
    if monitor.last_start_at is None:
        return None
    longest = monitor.grace if monitor.longest is None else monitor.longest
    return monitor.last_start_at + timedelta(seconds=longest)


def goes_down_at(monitor: Standing) -> datetime | None:
    """The end of the grace, or of what a run may take, whichever is first."""
    silent_at = None
    if monitor.expected_at is not None:
        silent_at = monitor.expected_at + timedelta(seconds=monitor.grace)
    return _earliest(silent_at, too_long_at(monitor))


def _looked_at_by(monitor: Standing) -> Standing:
    """`judge_at` only ever comes nearer here, so that an ordinary ping leaves its index alone."""
    soonest = _earliest(monitor.judge_at, _earliest(monitor.expected_at, monitor.alert_at))
    return replace(monitor, judge_at=soonest)


def _earliest(one: datetime | None, other: datetime | None) -> datetime | None:
    known = [at for at in (one, other) if at is not None]
    return min(known, default=None)
