"""What is still open is told again, later each time; what flapped and is steady is over."""

from datetime import datetime

from django.db import transaction

from monitors.ledger import grouping, messages
from monitors.ledger.alerts import ITSELF
from monitors.models import Incident
from monitors.queries.muting import muted_until, new_in_hand, quiet_until
from monitors.rules import reminding
from monitors.rules.incidents import IncidentState
from runs.ledger import tenants
from runs.ledger.commits import commits
from runs.queries.clock import db_now

AT_ONCE = 500


@commits("reminders_committed", when=bool)
def remind(tenant_id: int) -> int:
    """Tell of every incident of a tenant whose time has come; how many there were."""
    with transaction.atomic():
        tenants.hold(tenant_id)
        now = db_now()
        due = Incident.objects.filter(tenant_id=tenant_id, tell_at__lte=now).order_by(
            "tell_at", "pk"
        )
        found = list(due[:AT_ONCE])
        daily = []
        for incident in found:
            if not grouping.affected_still(incident):
                messages.recovered(incident, now=now)
                grouping.close(incident, by=ITSELF, now=now)
            elif (until := muted_until(incident, now=now)) is not None:
                incident.tell_at = until
            elif _is_in_hand(incident):
                _tell_what_is_new(incident, now=now)
            elif _is_daily(incident):
                daily.append(incident)
            else:
                _end_snooze(incident)
                messages.reminded(incident, now=now)
        if daily:
            messages.digested(daily, now=now)
        for incident in found:
            grouping.save(incident)
    return len(found)


def _is_in_hand(incident: Incident) -> bool:
    acknowledged = incident.state == IncidentState.ACKNOWLEDGED.value
    return acknowledged and incident.snoozed_until is None


def _tell_what_is_new(incident: Incident, *, now: datetime) -> None:
    """Of what joined it, or got worse in it, while it was maintained, and is still so."""
    new = new_in_hand(incident)
    incident.tell_at = quiet_until(new, now=now)
    if new and incident.tell_at is None:
        messages.joined(incident, new[0].sentence, now=now)
        grouping.take_back(incident, now=now)


def _is_daily(incident: Incident) -> bool:
    return incident.snoozed_until is None and reminding.is_daily(incident.reminders + 1)


def _end_snooze(incident: Incident) -> None:
    """Whoever slept on it has it no longer: it is open again."""
    if incident.snoozed_until is not None:
        incident.snoozed_until = None
        incident.state, incident.owner = IncidentState.OPEN.value, ""
        incident.acknowledged_at = None
