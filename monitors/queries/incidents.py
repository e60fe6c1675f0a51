"""Incidents as people read them, and which of them have to be told."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, QuerySet

from monitors.models import Alert, Incident
from monitors.queries.visible import visible_incidents
from monitors.rules.incidents import IncidentState
from runs.queries.clock import db_now
from runs.queries.keyset import Position, Slice, slice_of
from runs.rules import canonical
from runs.rules.policy import Actor

PAGE = 50
MEMBERS_SHOWN = 100
OPEN = (IncidentState.OPEN.value, IncidentState.ACKNOWLEDGED.value)


def tenants_to_tell() -> list[int]:
    """Whose incidents have to be told now."""
    rows = Incident.objects.filter(tell_at__lte=db_now())
    return sorted(set(rows.values_list("tenant_id", flat=True)))


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentsPage:
    """The open ones, worst first; the resolved ones by time, in slices."""

    open: Sequence[Incident]
    resolved: Slice[Incident]
    last_at: datetime | None
    version: str

    @property
    def untold(self) -> int:
        """Of how many nobody was told, though somebody was to be."""
        return sum(not each.messages and each.kind != "channel" for each in self.open)


def incidents_page(actor: Actor, position: Position | None) -> IncidentsPage:
    found = open_incidents(actor)
    over = visible_incidents(actor).filter(state=IncidentState.RESOLVED.value)
    resolved = slice_of(over, by="opened_at", position=position, size=PAGE)
    newest = over.order_by("-resolved_at").values_list("resolved_at", flat=True).first()
    seen = [f"{each.pk}.{each.seq}" for each in found]
    version = canonical.digest("-".join([*seen, str(newest)]))[:16]
    return IncidentsPage(open=found, resolved=resolved, last_at=newest, version=version)


def open_incidents(actor: Actor, *, at_most: int = 500) -> list[Incident]:
    """What calls for somebody first: not in hand, then by severity, then the oldest."""
    rows = visible_incidents(actor).filter(state__in=OPEN).order_by("opened_at", "pk")[:at_most]
    rank = {"critical": 0, "warning": 1, "info": 2}
    return sorted(rows, key=lambda each: (each.state == "acknowledged", rank[each.severity]))


def needing_somebody(actor: Actor) -> QuerySet[Incident]:
    """Open, and in nobody's hands."""
    return visible_incidents(actor).filter(state=IncidentState.OPEN.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Members:
    """The newest alerts of an incident, and how many are still open."""

    alerts: Sequence[Alert]
    open: int
    amount: int

    @property
    def cut(self) -> int:
        return self.amount - len(self.alerts)


def members_of(incident: Incident) -> Members:
    rows = incident.alerts.select_related("monitor").order_by("closed_at", "-opened_at")
    shown = sorted(rows[:MEMBERS_SHOWN], key=lambda each: each.closed_at is not None)
    return Members(
        alerts=shown,
        open=incident.alerts.filter(closed_at=None).count(),
        amount=incident.count,
    )


def incidents_of_monitor(actor: Actor, monitor_id: int, *, at_most: int = 20) -> list[Incident]:
    rows = visible_incidents(actor).filter(alerts__monitor=monitor_id).distinct()
    return list(rows.order_by("-opened_at", "-pk")[:at_most])


def is_in_hand(actor: Actor, incident_id: int) -> bool:
    """Whether somebody has acknowledged it, or put it off."""
    return visible_incidents(actor).filter(pk=incident_id).exclude(owner="").exists()


def one_incident(actor: Actor, incident_id: int) -> Incident | None:
    return visible_incidents(actor).filter(pk=incident_id).first()


def open_by_monitor(monitor_ids: Sequence[int]) -> Mapping[int, int]:
    rows = Alert.objects.filter(monitor__in=monitor_ids, closed_at=None).values("monitor")
    return {row["monitor"]: row["amount"] for row in rows.annotate(amount=Count("pk"))}


@dataclass(frozen=True, slots=True, kw_only=True)
class ForFirstPage:
    """An open incident, and the verdict of its monitor where it is about one."""

    incident: Incident
    verdict: str


def for_first_page(actor: Actor, *, but: Sequence[str], at_most: int = 50) -> list[ForFirstPage]:
    rows = visible_incidents(actor).filter(state__in=OPEN, snoozed_until=None).exclude(kind__in=but)
    found = list(rows.order_by("opened_at", "pk")[:at_most])
    single = [each.pk for each in found if each.affected == 1]
    alerts = Alert.objects.filter(incident__in=single, closed_at=None, monitor__isnull=False)
    verdicts = dict(alerts.values_list("incident_id", "monitor__verdict"))
    return [ForFirstPage(incident=each, verdict=verdicts.get(each.pk, "")) for each in found]
