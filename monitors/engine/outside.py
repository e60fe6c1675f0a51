"""Monitors of what pings from outside: absent past its grace, heard again, or failed by its own word."""

from dataclasses import replace
from datetime import datetime, timedelta

from monitors.engine.facts import View, is_news, let_go, pinged, settle
from monitors.ledger import judging, keeping
from monitors.queries.watching import Seen
from monitors.rules.states import MonitorState, Verdict
from monitors.rules.verdicts import Breach, Facts, Judged, judge

# Silence that cannot be believed yet is looked at again after this time.
LOOK_AGAIN = timedelta(seconds=1)


def look(seen: Seen, view: View) -> bool:
    """Whether anything was written about it."""
    if seen.removed:
        return _over(seen, view, sentence=f"{seen.name} was removed.", look_at=None)
    if seen.state == MonitorState.PAUSED:
        return _paused(seen, view)
    facts = _facts(seen, view)
    judged = _named(seen, judge(facts))
    if judged is not None and is_news(seen, judged):
        return settle(seen, facts, judged=judged, look_at=_next_look(facts))
    late = facts.expected_at is not None and view.now >= facts.expected_at
    unbelieved = facts.is_missing and seen.state != MonitorState.DOWN
    return judging.look_later(
        seen,
        at=view.now + LOOK_AGAIN if unbelieved else _next_look(facts),
        alert_at=facts.missing_from if seen.alert_at else None,
        late=late,
        now=view.now,
    )


def _facts(seen: Seen, view: View) -> Facts:
    facts = pinged(seen, view)
    if seen.reported_failure:
        return replace(facts, failed=True, missing_from=None, expected_at=None)
    if seen.expected_at is None or facts.expected_at is None:
        return facts
    # By its start it may be missing before it is expected.
    return replace(facts, expected_at=max(facts.expected_at, seen.expected_at))


def _named(seen: Seen, judged: Judged | None) -> Judged | None:
    """Which limit an absence is over: the start that never came, the end that never came, or the ping."""
    if judged is None or judged.verdict is not Verdict.SILENT:
        return judged
    breach = Breach.SILENCE
    if seen.last_ping_at is None and seen.last_start_at is None:
        breach = Breach.LATE_START
    elif seen.began_and_did_not_end:
        breach = Breach.TOO_LONG
    return Judged(verdict=judged.verdict, breach=breach, since=judged.since)


def _next_look(facts: Facts) -> datetime | None:
    """The next of its moments that is still to come; later ones a ping brings nearer."""
    moments = [at for at in (facts.expected_at, facts.missing_from) if at and at > facts.now]
    return min(moments, default=None)


def _paused(seen: Seen, view: View) -> bool:
    if seen.paused_until is not None and seen.paused_until <= view.now:
        return keeping.end_pause(seen, now=view.now)
    return _over(seen, view, sentence=f"{seen.name} was paused.", look_at=seen.paused_until)


def _over(seen: Seen, view: View, *, sentence: str, look_at: datetime | None) -> bool:
    if seen.is_wrong:
        return let_go(seen, view, sentence=sentence, put_away=False, look_at=look_at)
    return judging.look_later(seen, at=look_at, alert_at=seen.alert_at, late=False, now=view.now)
