"""Something is wrong, or well again: its alert, its incident and its message, in the caller's transaction."""

from dataclasses import replace
from datetime import datetime

from monitors.ledger import grouping, messages
from monitors.models import Alert, Incident
from monitors.queries.muting import is_maintained, muted_until, new_in_hand, quiet_until
from monitors.rules import flapping
from monitors.rules.changes import Change
from monitors.rules.incidents import (
    IncidentState,
    Trouble,
    is_trouble,
    is_well,
    is_worse,
    subject_of_monitor,
    trouble_of,
)
from runs.ledger import tenants
from runs.queries.clock import db_now

ITSELF = "recovery"


def on_change(change: Change) -> None:
    """A monitor's verdict has changed: called in the transaction that writes the change (I15).

    While it is maintained what is so is kept, and nobody is called.
    """
    if is_trouble(change):
        trouble = trouble_of(change)
        if is_maintained(change.monitor_id, now=db_now()):
            trouble = replace(trouble, quietly=True)
        raise_alert(trouble, monitor_id=change.monitor_id, change=change.seq)
    elif is_well(change):
        close_alert(
            tenant_id=change.tenant_id,
            subject=subject_of_monitor(change.monitor_id),
            because=change.sentence,
        )


def raise_alert(
    trouble: Trouble, *, monitor_id: int | None = None, change: int | None = None
) -> Alert:
    """One open alert a subject; people hear of it when its incident is new, or worse than it was.

    In what somebody has in hand they also hear of the first thing that is new in it.
    """
    # The tenant first, then its incidents, then the outbox: whoever acts on an incident does the same.
    tenants.hold(trouble.tenant_id)
    now = db_now()
    alert = Alert.objects.filter(
        tenant_id=trouble.tenant_id, subject=trouble.subject, closed_at=None
    ).first()
    if alert is not None:
        return _changed(alert, trouble, change=change, now=now)
    incident, is_new = grouping.incident_for(trouble, now=now)
    alert = Alert.objects.create(
        tenant_id=trouble.tenant_id,
        incident=incident,
        monitor_id=monitor_id,
        subject=trouble.subject,
        severity=trouble.severity.value,
        sentence=trouble.sentence,
        link=trouble.link,
        change=change,
        opened_at=now,
        changed_at=now,
    )
    joins = grouping.count_in(incident, alert, now=now) and not is_new
    _tell_of(incident, trouble, is_new=is_new, joins=joins, now=now)
    return alert


def _changed(alert: Alert, trouble: Trouble, *, change: int | None, now: datetime) -> Alert:
    """The same thing, otherwise wrong than before."""
    alert.severity, alert.sentence = trouble.severity.value, trouble.sentence
    alert.change, alert.changed_at = change, now
    alert.save(update_fields=["severity", "sentence", "change", "changed_at"])
    incident = alert.incident
    incident.last_at = now
    if incident.affected == 1:
        incident.sentence = trouble.sentence
    _tell_of(incident, trouble, is_new=False, now=now)
    return alert


def _tell_of(
    incident: Incident, trouble: Trouble, *, is_new: bool, joins: bool = False, now: datetime
) -> None:
    worse = is_worse(trouble.severity, than=incident.severity)
    in_hand = incident.state == IncidentState.ACKNOWLEDGED.value
    # Who sleeps on it is told of everything in it at the end of the snooze.
    joins = joins and in_hand and incident.snoozed_until is None
    if worse:
        incident.severity = trouble.severity.value
    if trouble.quietly:
        _leave_for_later(incident, is_new=is_new, in_hand=in_hand and (worse or joins), now=now)
    elif joins and not worse:
        messages.joined(incident, trouble.sentence, now=now)
    elif is_new or worse or not incident.messages:
        messages.opened(incident, trouble.sentence, now=now)
    if in_hand and (worse or joins) and not trouble.quietly:
        grouping.take_back(incident, now=now)
    grouping.save(incident)


def _leave_for_later(incident: Incident, *, is_new: bool, in_hand: bool, now: datetime) -> None:
    """What is still wrong when its maintenance is over is told then, also where somebody has it."""
    if is_new:
        grouping.put_off(incident, now=now)
        incident.tell_at = muted_until(incident, now=now) or incident.tell_at
    elif in_hand and incident.snoozed_until is None:
        incident.tell_at = quiet_until(new_in_hand(incident), now=now) or incident.tell_at


def close_alert(*, tenant_id: int, subject: str, because: str) -> bool:
    """It is well again; with its last open alert the incident is over, unless it flaps."""
    if not Alert.objects.filter(tenant_id=tenant_id, subject=subject, closed_at=None).exists():
        return False
    tenants.hold(tenant_id)
    alert = Alert.objects.filter(tenant_id=tenant_id, subject=subject, closed_at=None).first()
    if alert is None:
        return False
    now, incident = db_now(), alert.incident
    alert.closed_at, alert.closed_because = now, because or ITSELF
    alert.save(update_fields=["closed_at", "closed_because"])
    if incident.alerts.filter(closed_at=None).exists():
        return True
    if incident.flapping:
        incident.tell_at = flapping.steady_at(now)
    else:
        messages.recovered(incident, now=now)
        grouping.close(incident, by=ITSELF, now=now)
    grouping.save(incident)
    return True
