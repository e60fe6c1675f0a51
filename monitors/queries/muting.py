"""Whether an incident is about nothing but what is being maintained now."""

from datetime import datetime

from monitors.models import Incident, Monitor
from monitors.queries.windows import maintained_until


def muted_until(incident: Incident, *, now: datetime) -> datetime | None:
    """When the last of the windows ends in which all that is open in it stands; None outside."""
    if incident.alerts.filter(closed_at=None, monitor=None).exists():
        return None
    rows = Monitor.objects.filter(alerts__incident=incident, alerts__closed_at=None).distinct()
    found = list(rows)
    until = maintained_until(found, now=now)
    return max(until.values()) if found and len(until) == len(found) else None


def is_maintained(monitor_id: int, *, now: datetime) -> bool:
    return bool(maintained_until(list(Monitor.objects.filter(pk=monitor_id)), now=now))
