"""Which incident an alert belongs to: one that is open for the same cause, else a new one."""

from datetime import datetime

from monitors.models import Alert, Incident, IncidentCause
from monitors.rules import flapping, reminding
from monitors.rules.incidents import (
    MANY,
    MANY_KEY,
    MANY_WITHIN,
    WINDOW,
    IncidentState,
    Trouble,
)

RESOLVED = IncidentState.RESOLVED.value


def incident_for(trouble: Trouble, *, now: datetime) -> tuple[Incident, bool]:
    """The open incident of the same cause, locked, and whether it was made just now.

    The caller holds the tenant, so that nobody opens a second one meanwhile.
    """
    found = _open_under(trouble.subject, trouble=trouble)
    for name in trouble.causes:
        found = found or _open_under(name, trouble=trouble, since=now - WINDOW)
    if found is None and _are_many(trouble.tenant_id, now=now):
        found = _open_under(MANY_KEY, trouble=trouble, since=now - WINDOW)
    if found is not None:
        _name(found, trouble.names)
        return found, False
    return _opened(trouble, now=now), True


def _open_under(name: str, *, trouble: Trouble, since: datetime | None = None) -> Incident | None:
    rows = Incident.objects.exclude(state=RESOLVED).filter(
        tenant_id=trouble.tenant_id, causes__name=name, causes__open=True
    )
    if since is not None:
        rows = rows.filter(last_at__gte=since)
    return rows.first()


def _are_many(tenant_id: int, *, now: datetime) -> bool:
    lately = Incident.objects.filter(tenant_id=tenant_id, opened_at__gte=now - MANY_WITHIN)
    return lately[:MANY].count() >= MANY


def _opened(trouble: Trouble, *, now: datetime) -> Incident:
    many = _are_many(trouble.tenant_id, now=now)
    incident = Incident.objects.create(
        tenant_id=trouble.tenant_id,
        kind="many" if many else trouble.kind,
        severity=trouble.severity.value,
        sentence=trouble.sentence,
        workflow=trouble.workflow,
        opened_at=now,
        last_at=now,
    )
    _name(incident, (*trouble.names, MANY_KEY) if many else trouble.names)
    return incident


def _name(incident: Incident, names: tuple[str, ...]) -> None:
    """Whatever shares one of these names from now on belongs to this incident."""
    rows = IncidentCause.objects.filter(tenant_id=incident.tenant_id, name__in=names, open=True)
    rows.exclude(incident=incident).update(open=False)
    known = set(rows.filter(incident=incident).values_list("name", flat=True))
    IncidentCause.objects.bulk_create(
        IncidentCause(tenant_id=incident.tenant_id, incident=incident, name=name)
        for name in names
        if name not in known
    )


def count_in(incident: Incident, alert: Alert, *, now: datetime) -> bool:
    """One more alert; how many things are affected, whether this one flaps, and is new in it."""
    failures = Alert.objects.filter(
        tenant_id=alert.tenant_id, subject=alert.subject, opened_at__gte=now - flapping.WITHIN
    ).values_list("opened_at", flat=True)
    known = incident.alerts.filter(subject=alert.subject).exclude(pk=alert.pk).exists()
    incident.count += 1
    incident.affected += 0 if known else 1
    incident.last_at = now
    incident.flapping = incident.flapping or flapping.flaps(failures, now=now)
    return not known


def put_off(incident: Incident, *, now: datetime) -> None:
    """When people hear of it again, from now on."""
    incident.tell_at = reminding.next_reminder(
        now=now,
        sent=incident.reminders,
        acknowledged=incident.state == IncidentState.ACKNOWLEDGED.value,
        snoozed_until=incident.snoozed_until,
    )


def take_back(incident: Incident, *, now: datetime) -> None:
    """It is in nobody's hands again; that it was, and since when, stays written."""
    incident.state, incident.owner = IncidentState.OPEN.value, ""
    put_off(incident, now=now)


def close(incident: Incident, *, by: str, note: str = "", now: datetime) -> None:
    """Nothing is open in it any more, and its names are free for another one."""
    incident.state, incident.tell_at = RESOLVED, None
    incident.resolved_at, incident.resolved_by, incident.resolved_note = now, by, note
    incident.causes.filter(open=True).update(open=False)


def save(incident: Incident) -> None:
    """Write it as it is now; a page that saw it before is out of date."""
    incident.seq += 1
    incident.save()


def affected_still(incident: Incident) -> int:
    """How many things in it are wrong now."""
    return incident.alerts.filter(closed_at=None).count()
