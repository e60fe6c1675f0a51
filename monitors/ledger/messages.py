"""What people are told of an incident: each message has a number, and with it a stable id."""

from collections.abc import Sequence
from datetime import datetime

from monitors.ledger import grouping
from monitors.models import Incident
from monitors.rules.incidents import Severity, key_of
from monitors.rules.wording import (
    flapping_title,
    joined_title,
    recovered_title,
    reminder_title,
)
from runs.ledger.telling import tell
from runs.queries import deliveries

KIND = "alert"


def opened(incident: Incident, sentence: str, *, now: datetime) -> None:
    """It is new, or worse than people knew."""
    title = flapping_title(sentence) if incident.flapping else sentence
    _tell(incident, title, severity=incident.severity, now=now)


def joined(incident: Incident, sentence: str, *, now: datetime) -> None:
    """It was in somebody's hands, and something else is wrong by now."""
    title = joined_title(sentence, owner=incident.owner)
    _tell(incident, title, severity=incident.severity, now=now)


def reminded(incident: Incident, *, now: datetime) -> None:
    incident.reminders += 1
    title = reminder_title(
        incident.sentence,
        affected=grouping.affected_still(incident),
        since=incident.opened_at,
        now=now,
    )
    _tell(incident, title, severity=incident.severity, now=now)


def recovered(incident: Incident, *, now: datetime) -> None:
    """Only of what people were told, and they hear if that may not have arrived."""
    if not incident.messages:
        return
    title = recovered_title(
        incident.sentence,
        affected=incident.affected,
        lasted=now - incident.opened_at,
        arrived=deliveries.any_arrived(key_of(incident.pk)),
    )
    _tell(incident, title, severity="recovery", now=now)


def digested(incidents: Sequence[Incident], *, now: datetime) -> None:
    """What has been open for days, in one message a day and tenant."""
    first = incidents[0]
    worst = max((Severity(each.severity) for each in incidents), key=list(Severity).index)
    for incident in incidents:
        incident.reminders += 1
        incident.told_at = now
        grouping.put_off(incident, now=now)
    tell(
        tenant_id=first.tenant_id,
        run_id=None,
        kind=KIND,
        title=f"{len(incidents)} incidents are still open, the first since {first.opened_at:%Y-%m-%d}.",
        link="/alerts/",
        dedup_key=f"{key_of(first.pk)}digest:{first.reminders}",
        severity=worst.value,
    )


def _tell(incident: Incident, title: str, *, severity: str, now: datetime) -> None:
    """Where nobody can be told, nothing was: the next message has this one's number."""
    number = incident.messages + 1
    put = tell(
        tenant_id=incident.tenant_id,
        run_id=None,
        kind=KIND,
        title=title,
        link=f"/alerts/{incident.pk}/",
        dedup_key=f"{key_of(incident.pk)}{number}",
        severity=severity,
        workflow=incident.workflow,
    )
    if put:
        incident.messages, incident.told_at = number, now
    grouping.put_off(incident, now=now)
