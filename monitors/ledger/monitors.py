"""Monitors are made, changed, paused, resumed and removed by people, through the policy."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import uuid4

from django.db import transaction

from monitors.models import Monitor
from monitors.queries.visible import visible_monitors
from monitors.rules.monitors import LONGEST_NOTE, MonitorRefused, MonitorWish, refusals
from monitors.rules.states import MonitorKind, MonitorState
from monitors.rules.timing import Times, times_of
from runs.ledger import audit, tenants
from runs.ledger.commits import commits
from runs.queries.clock import db_now
from runs.rules import canonical
from runs.rules.chain import Draft
from runs.rules.policy import Actor, Verb, require


class NoSuchMonitor(Exception):
    """There is no such monitor, or this actor does not belong to its tenant."""


class MonitorChanged(Exception):
    """It was changed after it was looked at; nothing was done."""


class MonitorIsOurs(ValueError):
    """Milepost keeps this monitor itself: it may be paused, and not changed or removed."""


@commits("monitor_committed")
def create(actor: Actor, wish: MonitorWish, *, tenant: str = tenants.DEFAULT) -> Monitor:
    """Raises MonitorRefused, NoSuchTenant, NotAllowed."""
    require(actor, Verb.OPERATE)
    with transaction.atomic():
        owner = tenants.owner(actor, tenant, to="watch")
        now = db_now()
        _require_possible(wish, now=now)
        first_at = _first_due(wish, now)
        monitor = Monitor.objects.create(
            tenant=owner,
            code=uuid4(),
            state_since=now,
            alert_at=first_at,
            judge_at=first_at,
            created_by=actor.name[:200],
            created_at=now,
            updated_at=now,
            **wish.columns(),
        )
        _tell(monitor, "created", told=_told(wish), by=actor, now=now)
    return monitor


@commits("monitor_committed")
def change(actor: Actor, monitor_id: int, wish: MonitorWish, *, seen: int | None = None) -> Monitor:
    """Other limits for the same monitor, which count from its last ping on.

    `seen` is the revision that was looked at. Raises MonitorRefused, MonitorChanged,
    NoSuchMonitor, MonitorIsOurs, NotAllowed.
    """
    with transaction.atomic():
        monitor, now = held(actor, monitor_id, seen=seen), db_now()
        require_not_ours(monitor)
        _require_possible(wish, now=now)
        for name, value in wish.columns().items():
            setattr(monitor, name, value)
        if monitor.state in (MonitorState.UP, MonitorState.LATE):
            _set_times(monitor, times_of(monitor, since=monitor.last_ping_at or now), now=now)
        elif monitor.state == MonitorState.NEW:
            monitor.alert_at = monitor.judge_at = _first_due(wish, monitor.created_at)
        _save(monitor, "changed", told=_told(wish), by=actor, now=now)
    return monitor


@commits("monitor_committed")
def pause(
    actor: Actor,
    monitor_id: int,
    *,
    because: str = "",
    until: datetime | None = None,
    seen: int | None = None,
) -> Monitor:
    """Nothing is expected of it, for good or until a time.

    With an end, pings are kept and do not end the pause; without one, the next success or
    failure does, unless the monitor asks to be resumed by hand.
    """
    with transaction.atomic():
        monitor, now = held(actor, monitor_id, seen=seen), db_now()
        _require_may_rest(monitor)
        if until is not None and until <= now:
            raise MonitorRefused({"until": "That time has passed already."})
        monitor.paused_at, monitor.paused_until = monitor.paused_at or now, until
        monitor.paused_by, monitor.paused_note = actor.name[:200], because.strip()[:LONGEST_NOTE]
        monitor.last_start_at = monitor.last_start_rid = None
        monitor.expected_at = monitor.alert_at = None
        # Now, so that the judge closes what is open about it; then at the end of the pause.
        monitor.judge_at = now
        _move(monitor, MonitorState.PAUSED, now=now)
        told = {"because": because, "until": until.isoformat() if until else None}
        _save(monitor, "paused", told=told, by=actor, now=now)
    return monitor


@commits("monitor_committed")
def resume(actor: Actor, monitor_id: int, *, seen: int | None = None) -> Monitor:
    """It is watched again, from now on: a whole period is given before it is late."""
    with transaction.atomic():
        monitor, now = held(actor, monitor_id, seen=seen), db_now()
        if monitor.state == MonitorState.PAUSED:
            set_resumed(monitor, now=now)
            _save(monitor, "resumed", told={}, by=actor, now=now)
    return monitor


def set_resumed(monitor: Monitor, *, now: datetime) -> None:
    """The columns of a monitor whose pause is over; the caller holds the row and saves it.

    For the judge as well, when `paused_until` has come.
    """
    monitor.paused_at = monitor.paused_until = None
    monitor.paused_by = monitor.paused_note = ""
    seen_before = monitor.last_ping_at is not None
    _move(monitor, MonitorState.UP if seen_before else MonitorState.NEW, now=now)
    if seen_before:
        _set_times(monitor, times_of(monitor, since=now), now=now)
    elif monitor.late_start is not None:
        monitor.alert_at = times_of(monitor, since=now).first_at
    monitor.judge_at = now


@commits("monitor_committed")
def remove(actor: Actor, monitor_id: int, *, seen: int | None = None) -> Monitor:
    """Its address answers `not found` from now on; its pings stay until they are cleaned up."""
    with transaction.atomic():
        monitor, now = held(actor, monitor_id, seen=seen), db_now()
        require_not_ours(monitor)
        monitor.removed_at, monitor.slug = now, ""
        monitor.expected_at = monitor.alert_at = None
        monitor.judge_at = now
        _save(monitor, "removed", told={}, by=actor, now=now)
    return monitor


@commits("monitor_committed")
def renew_code(actor: Actor, monitor_id: int, *, seen: int | None = None) -> Monitor:
    """Another address, because the old one became known; the old one answers `not found` at once."""
    with transaction.atomic():
        monitor, now = held(actor, monitor_id, seen=seen), db_now()
        require_not_ours(monitor)
        monitor.code = uuid4()
        # Beats are counted anew too: whoever knew the old address may have sent the highest number.
        monitor.fence = monitor.beat_number = None
        _save(monitor, "code_renewed", told={}, by=actor, now=now)
    return monitor


def held(actor: Actor, monitor_id: int, *, seen: int | None = None) -> Monitor:
    """A monitor that this actor may operate, locked, as it was seen."""
    require(actor, Verb.OPERATE)
    rows = visible_monitors(actor).select_for_update(no_key=True, of=("self",))
    monitor = rows.filter(pk=monitor_id).first()
    if monitor is None:
        raise NoSuchMonitor("There is no such monitor.")
    if seen is not None and seen != monitor.revision:
        raise MonitorChanged(
            f"{monitor} was changed at {monitor.updated_at:%Y-%m-%d %H:%M:%S} UTC, after you "
            "looked. Nothing was done."
        )
    return monitor


def _require_possible(wish: MonitorWish, *, now: datetime) -> None:
    if errors := refusals(wish, now=now):
        raise MonitorRefused(errors)


def require_not_ours(monitor: Monitor) -> None:
    if monitor.kind != MonitorKind.OUTSIDE:
        raise MonitorIsOurs("Milepost keeps this monitor itself. It can be paused.")


def _require_may_rest(monitor: Monitor) -> None:
    """While the watch's own pings do not count, no silence of anybody is believed (R34)."""
    if monitor.kind == MonitorKind.WATCH:
        raise MonitorIsOurs(
            "The watch's own monitor cannot be paused: nobody else's silence would be noticed."
        )


def _first_due(wish: MonitorWish, since: datetime) -> datetime | None:
    return times_of(wish, since=since).first_at


def _set_times(monitor: Monitor, times: Times, *, now: datetime) -> None:
    monitor.expected_at, monitor.alert_at, monitor.judge_at = times.expected_at, times.alert_at, now
    if monitor.state == MonitorState.LATE and (
        times.expected_at is None or times.expected_at > now
    ):
        _move(monitor, MonitorState.UP, now=now)


def _move(monitor: Monitor, to: MonitorState, *, now: datetime) -> None:
    if monitor.state != to:
        monitor.state, monitor.state_since = to.value, now


def _save(
    monitor: Monitor, verb: str, *, told: Mapping[str, Any], by: Actor, now: datetime
) -> None:
    monitor.revision, monitor.seq, monitor.updated_at = monitor.revision + 1, monitor.seq + 1, now
    monitor.save()
    _tell(monitor, verb, told=told, by=by, now=now)


def _told(wish: MonitorWish) -> dict[str, Any]:
    when = {"cron": wish.cron, "zone": wish.zone} if wish.cron else {"period": wish.period}
    return {**when, "grace": wish.grace, "public": wish.public, "post_only": wish.post_only}


def _tell(
    monitor: Monitor, verb: str, *, told: Mapping[str, Any], by: Actor, now: datetime
) -> None:
    # The number, not the code: whoever reads the audit need not be able to ping.
    body = canonical.dumps({"monitor": monitor.pk, "name": str(monitor.name), **told})
    event = Draft(kind=f"monitor.{verb}", body=body)
    audit.append_to_tenant(monitor.tenant_id, [event], now=now, actor=by.name)
