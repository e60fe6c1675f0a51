"""What people do about an incident: take it on, put it off, resolve it, take that back."""

from datetime import datetime
from typing import Any

from django.db import transaction

from monitors.ledger import grouping
from monitors.models import Incident
from monitors.queries.visible import visible_incidents
from monitors.rules.incidents import (
    LONGEST_NOTE,
    RESOLVED_BY,
    IncidentRefused,
    IncidentState,
    snooze_refusal,
)
from runs.ledger import audit, tenants
from runs.ledger.commits import commits
from runs.queries.clock import db_now
from runs.rules import canonical
from runs.rules.chain import Draft
from runs.rules.policy import Actor, Verb, require


class NoSuchIncident(Exception):
    """There is no such incident, or it belongs to a tenant this actor does not see."""


class IncidentChanged(Exception):
    """The incident changed since it was looked at; look again before anything is done about it."""


@commits("incident_committed")
def acknowledge(actor: Actor, incident_id: int, *, note: str, seen: int | None = None) -> Incident:
    """It has an owner: nobody is reminded any more, unless it gets worse or something new joins it.

    Then it is in nobody's hands again and told once; `acknowledged_at` still says that it was.
    """
    with transaction.atomic():
        incident, now = _held(actor, incident_id, seen=seen), db_now()
        incident.state, incident.snoozed_until = IncidentState.ACKNOWLEDGED.value, None
        incident.owner, incident.acknowledged_at = actor.name, now
        incident.note = note[:LONGEST_NOTE]
        _put_off(incident, now=now)
        _save(incident, "acknowledged", {"note": incident.note}, by=actor, now=now)
    return incident


@commits("incident_committed")
def snooze(
    actor: Actor, incident_id: int, *, until: datetime, note: str = "", seen: int | None = None
) -> Incident:
    """Nobody is reminded until then; then everybody is, if it is still open."""
    with transaction.atomic():
        incident, now = _held(actor, incident_id, seen=seen), db_now()
        if refusal := snooze_refusal(until, now=now):
            raise IncidentRefused(refusal)
        incident.snoozed_until, incident.owner = until, actor.name
        incident.note = note[:LONGEST_NOTE] or incident.note
        _put_off(incident, now=now)
        told = {"until": until.isoformat(), "note": note[:LONGEST_NOTE]}
        _save(incident, "snoozed", told, by=actor, now=now)
    return incident


@commits("incident_committed")
def reopen(actor: Actor, incident_id: int, *, seen: int | None = None) -> Incident:
    """Take an acknowledgement or a snooze back: reminders begin again."""
    with transaction.atomic():
        incident, now = _held(actor, incident_id, seen=seen), db_now()
        incident.state, incident.snoozed_until = IncidentState.OPEN.value, None
        incident.owner, incident.acknowledged_at = "", None
        _put_off(incident, now=now)
        _save(incident, "reopened", {}, by=actor, now=now)
    return incident


@commits("incident_committed")
def resolve(actor: Actor, incident_id: int, *, note: str, seen: int | None = None) -> Incident:
    """A person says that it is over; what is still wrong is told anew only when it changes again."""
    with transaction.atomic():
        incident, now = _held(actor, incident_id, seen=seen), db_now()
        incident.alerts.filter(closed_at=None).update(
            closed_at=now, closed_because=f"{RESOLVED_BY}{actor.name}"
        )
        grouping.close(incident, by=actor.name, note=note[:LONGEST_NOTE], now=now)
        _save(incident, "resolved", {"note": note[:LONGEST_NOTE]}, by=actor, now=now)
    return incident


def _held(actor: Actor, incident_id: int, *, seen: int | None) -> Incident:
    """An incident that is not over, locked behind its tenant, as it was seen."""
    require(actor, Verb.OPERATE)
    found = visible_incidents(actor).filter(pk=incident_id).first()
    if found is None:
        raise NoSuchIncident("There is no such incident.")
    tenants.hold(found.tenant_id)
    incident = Incident.objects.get(pk=incident_id)
    if seen is not None and seen != incident.seq:
        raise IncidentChanged(
            f"This incident changed after you looked: it is {incident.state}, "
            f"{incident.affected} affected. Nothing was done."
        )
    if incident.state == IncidentState.RESOLVED.value:
        raise IncidentChanged(
            f"This incident was resolved at {incident.resolved_at:%Y-%m-%d %H:%M:%S} UTC "
            f"by {incident.resolved_by}. Nothing was done."
        )
    return incident


def _put_off(incident: Incident, *, now: datetime) -> None:
    """A thing that flapped and has been up since then keeps the moment at which it is steady."""
    if not incident.flapping or incident.alerts.filter(closed_at=None).exists():
        grouping.put_off(incident, now=now)


def _save(incident: Incident, verb: str, told: dict[str, Any], *, by: Actor, now: datetime) -> None:
    grouping.save(incident)
    body = canonical.dumps({"incident": incident.pk, **told})
    event = Draft(kind=f"incident.{verb}", body=body)
    audit.append_to_tenant(incident.tenant_id, [event], now=now, actor=by.name)
