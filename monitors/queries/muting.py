"""Whether an incident is about nothing but what is being maintained now."""

from collections.abc import Sequence
from datetime import datetime

from monitors.models import Alert, Incident, Monitor
from monitors.queries.windows import maintained_until


def muted_until(incident: Incident, *, now: datetime) -> datetime | None:
    """When the last of the windows ends in which all that is open in it stands; None outside."""
    if incident.alerts.filter(closed_at=None, monitor=None).exists():
        return None
    rows = Monitor.objects.filter(alerts__incident=incident, alerts__closed_at=None).distinct()
    found = list(rows)
    until = maintained_until(found, now=now)
    return max(until.values()) if found and len(until) == len(found) else None


def new_in_hand(incident: Incident) -> list[Alert]:
    """What is open and came, or changed, since somebody took the incident in hand, the latest first."""
    rows = incident.alerts.filter(closed_at=None, changed_at__gte=incident.acknowledged_at)
    return list(rows.select_related("monitor").order_by("-changed_at", "-pk"))


def quiet_until(alerts: Sequence[Alert], *, now: datetime) -> datetime | None:
    """When the last of the windows ends in which any of these stands."""
    found = [alert.monitor for alert in alerts if alert.monitor is not None]
    return max(maintained_until(found, now=now).values(), default=None)


def is_maintained(monitor_id: int, *, now: datetime) -> bool:
    return bool(maintained_until(list(Monitor.objects.filter(pk=monitor_id)), now=now))
