"""Both facts of a monitor put side by side, and the verdict that they make, ready to be written."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from monitors.ledger import judging, keeping
from monitors.ledger.judging import Verdicts
from monitors.queries.watching import Seen
from monitors.rules.sayings import ALIVE, Said, said
from monitors.rules.states import MonitorState, Verdict
from monitors.rules.verdicts import Breach, Facts, Judged, counted_from, judge
from runs.conf import conf, site
from runs.rules import canonical

ABSENT = (Verdict.SILENT.value, Verdict.CUT_OFF.value)
# A lease is renewed three times in its length: whoever beats after this share of it should have.
DUE_SHARE = 0.5
# By then a renewal that is only late has come.
LAPSED_SHARE = 0.75


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What holds for everybody in one pass of the judge."""

    now: datetime
    believed_at: datetime | None
    blind_until: datetime | None
    is_blind: bool = False

    def counted(self, at: datetime, *, allowed: timedelta) -> datetime:
        return counted_from(at, allowed=allowed, blind_until=self.blind_until)

    def lapsed(self, renewed_at: datetime) -> datetime | None:
        """Since when a renewal is missing; None as long as it may only be late."""
        allowed = conf().lease * LAPSED_SHARE
        if self.now < self.counted(renewed_at + allowed, allowed=allowed):
            return None
        return renewed_at + conf().lease * DUE_SHARE


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """What a monitor has in common with others; who shares it has the same cause."""

    workflow: str = ""
    worker: str = ""
    clusters: tuple[str, ...] = ()


def pinged(seen: Seen, view: View) -> Facts:
    """The ping's half of the facts, with its deadline as it counts after a time of blindness."""
    grace, missing = timedelta(seconds=seen.grace), seen.alert_at
    if missing is not None and view.blind_until is not None:
        missing = seen.counted_after(view.blind_until)
    return Facts(
        now=view.now,
        heard_at=seen.last_ping_at,
        expected_at=missing - grace if missing else None,
        missing_from=missing,
        believed_at=view.believed_at,
    )


def settle(
    seen: Seen,
    facts: Facts,
    *,
    shared: Shared | None = None,
    judged: Judged | None = None,
    look_at: datetime | None = None,
    pings: bool = True,
) -> bool:
    """Write what the facts say, if it is something else than what was said last.

    Without `pings` it comes back by itself: nothing is ever heard of it.
    """
    made, common = judged or judge(facts), shared or Shared()
    if made is None or not is_news(seen, made, pings=pings):
        return False
    return judging.change(
        seen,
        Verdicts(
            judged=made,
            said=said(made, facts, kind=seen.kind, name=seen.name, site=site()),
            facts=as_text(facts),
            look_at=look_at,
            workflow=common.workflow,
            worker=common.worker,
            clusters=common.clusters,
        ),
        now=facts.now,
    )


def let_go(
    seen: Seen,
    view: View,
    *,
    sentence: str,
    put_away: bool,
    look_at: datetime | None = None,
    shared: Shared | None = None,
) -> bool:
    """End what is open about a monitor of which nothing is expected any more."""
    common = shared or Shared()
    made = Verdicts(
        judged=Judged(verdict=Verdict.ALIVE, since=view.now),
        said=Said(sentence=sentence, advice=ALIVE),
        facts="{}",
        look_at=look_at,
        workflow=common.workflow,
        worker=common.worker,
        clusters=common.clusters,
    )
    return judging.let_go(seen, made, now=view.now, put_away=put_away)


def paused_by_a_person(seen: Seen, view: View) -> None:
    """Left alone, but for what is open about it, until its time has come."""
    if seen.paused_until is not None and seen.paused_until <= view.now:
        keeping.end_pause(seen, now=view.now)
    elif seen.is_wrong:
        let_go(seen, view, sentence=f"{seen.name} was paused.", put_away=False)


def is_news(seen: Seen, judged: Judged, *, pings: bool = True) -> bool:
    """Who was absent is heard again only by a ping, which makes it go up by itself."""
    absent = pings and seen.state == MonitorState.DOWN and seen.was_verdict in ABSENT
    if absent and judged.verdict.value not in ABSENT and judged.breach is not Breach.FAILED:
        return False
    said_last = (seen.was_verdict, seen.was_breach)
    return (
        said_last != (judged.verdict.value, judged.breach.value)
        or seen.verdict != judged.verdict.value
        or seen.was_state != judged.state.value
    )


def as_text(facts: Facts) -> str:
    """What the page shows beside each change."""
    ping = {
        "heard_at": _moment(facts.heard_at),
        "expected_at": _moment(facts.expected_at),
        "missing_from": _moment(facts.missing_from),
        "own_ping_at": _moment(facts.believed_at),
    }
    database = {
        "lives": facts.lives,
        "renewed_at": _moment(facts.lived_at),
        "progress_at": _moment(facts.progress_at),
        "progress_limit": facts.progress_limit.total_seconds() if facts.progress_limit else None,
        "start_by": _moment(facts.start_by),
        "end_by": _moment(facts.end_by),
    }
    known = None if facts.lives is None and not facts.progress_at else database
    if facts.start_by is not None:
        known = database
    return canonical.dumps({"ping": ping, "database": known})


def _moment(at: datetime | None) -> str | None:
    return at.isoformat() if at else None
