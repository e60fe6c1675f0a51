"""Monitors as rows, and changes of their verdicts as the judge tells them."""

from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

from django.db import transaction

from monitors.ledger import alerts
from monitors.models import Alert, Incident, Monitor
from monitors.rules.changes import Change
from monitors.rules.states import MonitorKind, MonitorState, Verdict
from runs.models import Message, Tenant
from runs.queries.clock import db_now
from runs.rules import canonical
from tests.support import runs

SENTENCES = {
    Verdict.SILENT: "sends nothing since its time and shows no life",
    Verdict.CUT_OFF: "goes on, and its pings do not arrive",
    Verdict.SLOW: "beats, and has made no progress",
    Verdict.ALIVE: "beats as expected",
    Verdict.BLIND: "nobody could see",
}


def a_monitor(name: str = "backup", *, tenant: Tenant | None = None, **more: Any) -> Monitor:
    now = db_now()
    given: dict[str, Any] = {
        "tenant": tenant or runs.the_tenant(),
        "code": uuid4(),
        "slug": name,
        "name": name,
        "period": 60.0,
        "grace": 60.0,
        "state": "up",
        "verdict": "alive",
        "state_since": now,
        "verdict_since": now,
        "created_by": "tests",
        "created_at": now,
        "updated_at": now,
    }
    return Monitor.objects.create(**(given | more))


def change(
    monitor: Monitor, verdict: Verdict | str, *, at: datetime | None = None, **more: Any
) -> Change:
    """What the judge says next of this monitor; its row is moved as the judge moves it."""
    verdict, at = Verdict(verdict), at or db_now()
    down = verdict in (Verdict.SILENT, Verdict.CUT_OFF)
    was = MonitorState(monitor.state), Verdict(monitor.verdict) if monitor.verdict else None
    monitor.state = MonitorState.DOWN.value if down else MonitorState.UP.value
    monitor.verdict, monitor.seq = verdict.value, monitor.seq + 1
    monitor.save()
    given: dict[str, Any] = {
        "monitor_id": monitor.pk,
        "tenant_id": monitor.tenant_id,
        "seq": monitor.seq,
        "kind": MonitorKind(monitor.kind),
        "subject": monitor.subject,
        "name": monitor.name,
        "was_state": was[0],
        "state": MonitorState(monitor.state),
        "was_verdict": was[1],
        "verdict": verdict,
        "sentence": f"{monitor.name} {SENTENCES[verdict]}.",
        "advice": "Look at it.",
        "since": at - timedelta(seconds=1),
        "at": at,
    }
    return Change(**(given | more))


def turns(monitor: Monitor, verdict: Verdict | str, **more: Any) -> None:
    """The judge's transaction, as far as alerts are concerned."""
    with transaction.atomic():
        alerts.on_change(change(monitor, verdict, **more))


def the_incident() -> Incident:
    return Incident.objects.get()


def titles() -> list[str]:
    """What people were told, in its order."""
    rows = Message.objects.filter(kind="alert").order_by("created_at", "pk")
    return [canonical.loads(each.payload)["title"] for each in rows]


def open_alerts() -> list[str]:
    return sorted(Alert.objects.filter(closed_at=None).values_list("subject", flat=True))
