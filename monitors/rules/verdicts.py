"""Which verdict two independent facts make: the ping over HTTP, the lease and progress in the database."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from monitors.rules.states import MonitorState, Verdict

# A gap in the judge's own passes of this length makes it blind: what came due in it says nothing.
GAP = timedelta(seconds=3)
# From this length on people are told of it.
TOLD_FROM = timedelta(seconds=10)


class Breach(StrEnum):
    """What was not kept: a limit, a promise of its own, or nothing."""

    NONE = ""
    LATE_START = "late_start"
    SILENCE = "silence"
    TOO_LONG = "too_long"
    PROGRESS = "progress"
    LEASE = "lease"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is known at one moment; the second half is what the database says, if it says anything.

    `missing_from` is when the absence of a ping counts, its grace over; None when none is expected.
    `believed_at` is when a ping of our own last came through: silence before that may be ours.
    `lives` is whether its lease is good; None for what the database knows nothing of. `lapsed_at` is
    since when a renewal of it is missing: whoever beat after that cannot reach the database.
    `start_by` is the latest start of what has not begun; `end_by` the latest end of what has.
    """

    now: datetime
    heard_at: datetime | None = None
    expected_at: datetime | None = None
    missing_from: datetime | None = None
    believed_at: datetime | None = None
    failed: bool = False
    lives: bool | None = None
    lived_at: datetime | None = None
    lapsed_at: datetime | None = None
    progress_at: datetime | None = None
    progress_limit: timedelta | None = None
    start_by: datetime | None = None
    end_by: datetime | None = None

    @property
    def is_missing(self) -> bool:
        return self.missing_from is not None and self.now >= self.missing_from

    @property
    def silence_is_believed(self) -> bool:
        """A ping of our own came in after the absence counted, so others could have (R34)."""
        return (
            self.missing_from is not None
            and self.believed_at is not None
            and self.believed_at >= self.missing_from
        )

    @property
    def shows_life(self) -> bool:
        """The database has heard of it since the missing ping was due, and its lease is good.

        Who died a moment after renewing it is cut off from nothing, however late that moment was.
        """
        if self.lives is False:
            return False
        since = self.expected_at or self.missing_from
        signs = [at for at in (self.lived_at, self.progress_at) if at is not None]
        return since is not None and any(at > since for at in signs)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """The verdict, what was not kept, and since when that is so."""

    verdict: Verdict
    breach: Breach = Breach.NONE
    since: datetime

    @property
    def state(self) -> MonitorState:
        """Only absence and a failure that it reported itself make a monitor go down."""
        down = self.verdict in (Verdict.SILENT, Verdict.CUT_OFF) or self.breach is Breach.FAILED
        return MonitorState.DOWN if down else MonitorState.UP


def judge(facts: Facts) -> Judged | None:
    """The verdict; None while nothing can be said, so that it stays what it was."""
    if facts.start_by is not None:
        return _of_a_start(facts, facts.start_by)
    if facts.is_missing:
        return _of_an_absence(facts)
    return _of_a_beating(facts)


def _of_a_start(facts: Facts, start_by: datetime) -> Judged | None:
    if facts.now < start_by:
        return None
    return Judged(verdict=Verdict.SILENT, breach=Breach.LATE_START, since=start_by)


def _of_an_absence(facts: Facts) -> Judged | None:
    if not facts.silence_is_believed or facts.missing_from is None:
        return None
    verdict = Verdict.CUT_OFF if facts.shows_life else Verdict.SILENT
    return Judged(verdict=verdict, breach=Breach.SILENCE, since=facts.missing_from)


def _of_a_beating(facts: Facts) -> Judged | None:
    if facts.heard_at is None:
        return None
    if facts.failed:
        return Judged(verdict=Verdict.ALIVE, breach=Breach.FAILED, since=facts.heard_at)
    if facts.lapsed_at is not None and facts.lapsed_at < facts.heard_at:
        return Judged(verdict=Verdict.SLOW, breach=Breach.LEASE, since=facts.lapsed_at)
    over = [
        (at, breach)
        for at, breach in ((_stuck_from(facts), Breach.PROGRESS), (facts.end_by, Breach.TOO_LONG))
        if at is not None and facts.now >= at
    ]
    if over:
        since, breach = min(over)
        return Judged(verdict=Verdict.SLOW, breach=breach, since=since)
    return Judged(verdict=Verdict.ALIVE, since=facts.heard_at)


def _stuck_from(facts: Facts) -> datetime | None:
    if facts.progress_at is None or facts.progress_limit is None:
        return None
    return facts.progress_at + facts.progress_limit


def counted_from(at: datetime, *, allowed: timedelta, blind_until: datetime | None) -> datetime:
    """When something allowed for so long counts as over, if nobody could see until `blind_until`.

    Whoever was not seen gets its whole time again: a sender's next ping may be a period away (R25).
    """
    return at if blind_until is None else max(at, blind_until + allowed)
