"""Monitors of our own are made, rest while nothing is expected, go on, and are put away by themselves."""

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import QuerySet

from monitors.ledger.monitors import set_resumed
from monitors.models import Monitor
from monitors.queries.watching import Seen
from monitors.rules.own import ITSELF, Own, code_of
from monitors.rules.states import MonitorKind, MonitorState
from runs.conf import conf
from runs.ledger.commits import commits


@commits("monitor_kept")
def keep(own: Own, *, now: datetime) -> None:
    """Watch this from now on: make its monitor, or take it out again; the first beat is not due yet.

    Two judges may do it at once: the address is the same, and there is one row an address.
    """
    limits = _limits(own)
    with transaction.atomic():
        row, made = Monitor.objects.get_or_create(
            code=code_of(own.kind.value, own.subject, secret=conf().secret),
            defaults={
                **limits,
                **_anew(own, now=now),
                "kind": own.kind.value,
                "subject": own.subject,
                "tenant_id": own.tenant_id,
                "state": MonitorState.NEW.value,
                "state_since": now,
                "manual_resume": True,
                "created_by": ITSELF,
                "created_at": now,
                "updated_at": now,
            },
        )
        if not made:
            Monitor.objects.filter(pk=row.pk).exclude(removed_at=None).update(
                **limits, **_anew(own, now=now), **_awake(now), removed_at=None
            )


@commits("monitor_kept", when=bool)
def readdress() -> int:
    """Under another SECRET_KEY what we watch is pinged elsewhere; otherwise no beat would be heard."""
    kept = Monitor.objects.filter(removed_at=None).exclude(kind=MonitorKind.OUTSIDE.value)
    moved = 0
    for row in kept.only("kind", "subject", "code"):
        code = code_of(row.kind, row.subject, secret=conf().secret)
        if code != row.code and not Monitor.objects.filter(code=code).exists():
            moved += Monitor.objects.filter(pk=row.pk).update(code=code)
    return moved


@commits("monitor_kept", when=bool)
def go_on(seen: Seen, own: Own, *, now: datetime) -> bool:
    """It is at work again, or in other hands: what was said under the fence before counts no more."""
    return bool(
        _still(seen).update(
            **_limits(own),
            **_anew(own, now=now),
            **(_awake(now) if seen.state == MonitorState.PAUSED else {"seq": seen.seq + 1}),
        )
    )


@commits("monitor_kept", when=bool)
def rest(seen: Seen, *, because: str, now: datetime) -> bool:
    """Nothing is expected of it for now: its run waits for somebody, or is paused."""
    return bool(
        _still(seen).update(
            state=MonitorState.PAUSED.value,
            state_since=now,
            paused_at=now,
            paused_by=ITSELF,
            paused_note=because,
            expected_at=None,
            alert_at=None,
            judge_at=None,
            seq=seen.seq + 1,
            updated_at=now,
        )
    )


@commits("monitor_kept", when=bool)
def end_pause(seen: Seen, *, now: datetime) -> bool:
    """The time has come until which a person paused it: it is watched again, a whole period long."""
    with transaction.atomic():
        rows = Monitor.objects.select_for_update(no_key=True).filter(pk=seen.id, seq=seen.seq)
        row = rows.filter(state=MonitorState.PAUSED.value, paused_until__lte=now).first()
        if row is None:
            return False
        set_resumed(row, now=now)
        row.seq += 1
        row.save()
    return True


@commits("monitor_kept", when=bool)
def put_away(seen: Seen, *, now: datetime) -> bool:
    """What it watched is over; the row stays for whoever reads about its alerts."""
    return bool(
        _still(seen).update(removed_at=now, judge_at=None, seq=seen.seq + 1, updated_at=now)
    )


def _still(seen: Seen) -> QuerySet[Monitor]:
    return Monitor.objects.filter(pk=seen.id, seq=seen.seq, removed_at=None)


def _limits(own: Own) -> dict[str, object]:
    return {
        "name": own.name[:200],
        "period": own.period,
        "grace": own.grace,
        "progress_limit": own.progress_limit,
        "late_start": own.late_start,
        "longest": own.longest,
    }


def _anew(own: Own, *, now: datetime) -> dict[str, object]:
    """The first beat is due a period from now."""
    if own.period is None:
        return {"expected_at": None, "alert_at": None}
    expected = now + timedelta(seconds=own.period)
    dues: dict[str, object] = {
        "expected_at": expected,
        "alert_at": expected + timedelta(seconds=own.grace),
    }
    if own.fence is not None:
        dues |= {"fence": own.fence, "beat_number": 0}
    return dues


def _awake(now: datetime) -> dict[str, object]:
    """It begins anew: the age of a beat from before its rest says nothing of it now."""
    return {
        "last_ping_at": None,
        "state": MonitorState.NEW.value,
        "state_since": now,
        "paused_at": None,
        "paused_by": "",
        "paused_note": "",
    }
