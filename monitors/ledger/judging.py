"""A monitor's verdict changes, with its record, its alert and its messages, in one transaction (I15)."""

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import F, QuerySet

from monitors.ledger import alerts
from monitors.models import Monitor, VerdictChange
from monitors.queries.watching import Seen
from monitors.rules.changes import Change
from monitors.rules.sayings import Said
from monitors.rules.states import MonitorState, Verdict
from monitors.rules.verdicts import Judged
from runs.ledger.commits import commits


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdicts:
    """What was judged of one monitor, and what is to be kept with it.

    `look_at` is when the judge looks again by itself; None when only a ping can change anything.
    """

    judged: Judged
    said: Said
    facts: str
    look_at: datetime | None
    workflow: str = ""
    worker: str = ""
    clusters: tuple[str, ...] = ()
    told: bool = True


@commits("verdict_committed", when=bool)
def change(seen: Seen, made: Verdicts, *, now: datetime) -> bool:
    """Write what was judged; False when a ping or another judge came first: look again.

    The monitor's row first, then whatever the alert takes: a ping holds nothing but that row.
    """
    with transaction.atomic():
        told = write(seen, made, now=now)
        if told is None:
            return False
        alerts.on_change(told)
    return True


def write(seen: Seen, made: Verdicts, *, now: datetime) -> Change | None:
    """The monitor and its record, inside the caller's transaction; None when somebody came first."""
    judged, state = made.judged, made.judged.state
    moved = _as_it_was_seen(seen).update(
        state=state.value,
        state_since=now if state != seen.state else F("state_since"),
        verdict=judged.verdict.value,
        verdict_since=now,
        judge_at=made.look_at,
        seq=seen.seq + 1,
    )
    if not moved:
        return None
    told = _change(seen, made, state=state, now=now)
    _keep(told, made)
    return told


@commits("verdict_committed", when=bool)
def let_go(seen: Seen, made: Verdicts, *, now: datetime, put_away: bool) -> bool:
    """Something was wrong, and nothing is expected of it any more: the alert ends.

    It was paused or removed, or what it watched is over; `put_away` removes it as well.
    """
    with transaction.atomic():
        moved = _as_it_was_seen(seen).update(
            verdict=made.judged.verdict.value,
            verdict_since=now,
            judge_at=made.look_at,
            seq=seen.seq + 1,
            removed_at=now if put_away else F("removed_at"),
        )
        if not moved:
            return False
        state = MonitorState.PAUSED if seen.state == MonitorState.PAUSED else MonitorState.UP
        told = _change(seen, made, state=state, now=now, retired=True)
        _keep(told, made)
        alerts.on_change(told)
    return True


@commits("monitor_kept", when=bool)
def look_later(
    seen: Seen, *, at: datetime | None, alert_at: datetime | None, late: bool, now: datetime
) -> bool:
    """Nothing to say yet: when to look again, and whether it is past its time by now."""
    fields: dict[str, object] = {"judge_at": at, "alert_at": alert_at}
    if late and seen.state == MonitorState.UP:
        fields |= {"state": MonitorState.LATE.value, "state_since": now, "seq": seen.seq + 1}
    return bool(_as_it_was_seen(seen).update(**fields))


def _as_it_was_seen(seen: Seen) -> QuerySet[Monitor]:
    """The one condition on which two judges, or a judge and a ping, cannot both be right.

    A start moves `alert_at` and `judge_at` alone: they must not be put back over it.
    """
    return Monitor.objects.filter(
        pk=seen.id,
        seq=seen.seq,
        last_ping_at=seen.last_ping_at,
        last_start_at=seen.last_start_at,
    )


def _change(
    seen: Seen, made: Verdicts, *, state: MonitorState, now: datetime, retired: bool = False
) -> Change:
    judged = made.judged
    return Change(
        monitor_id=seen.id,
        tenant_id=seen.tenant_id,
        seq=seen.seq + 1,
        kind=seen.kind,
        subject=seen.subject,
        name=seen.name,
        workflow=made.workflow,
        worker=made.worker,
        clusters=made.clusters,
        was_state=MonitorState(seen.was_state),
        state=state,
        was_verdict=Verdict(seen.was_verdict) if seen.was_verdict else None,
        verdict=judged.verdict,
        breach=judged.breach,
        sentence=made.said.sentence,
        advice=made.said.advice,
        since=judged.since,
        at=now,
        retired=retired,
        told=made.told,
    )


def _keep(told: Change, made: Verdicts) -> None:
    VerdictChange.objects.create(
        monitor_id=told.monitor_id,
        seq=told.seq,
        was_state=told.was_state.value,
        state=told.state.value,
        was_verdict=told.was_verdict.value if told.was_verdict else "",
        verdict=told.verdict.value,
        breach=told.breach.value,
        sentence=told.sentence,
        advice=told.advice,
        facts=made.facts,
        since=told.since,
        at=told.at,
    )
