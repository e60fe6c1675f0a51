"""What of monitors is over for so long that it may go: nothing open, nothing that is still asked for."""

from datetime import datetime

from django.db.models import Exists, OuterRef, Q, QuerySet

from monitors.models import (
    Alert,
    Blindness,
    Incident,
    MaintenanceWindow,
    Monitor,
    VerdictChange,
)
from monitors.rules.incidents import IncidentState, incident_in
from runs.queries.deliveries import unsettled_keys


def incidents(before: datetime) -> QuerySet[Incident]:
    """Resolved before then, every message settled.

    One that holds the newest alert of a monitor that is still watched stays: what was said of it last
    has its alert there.
    """
    found = (incident_in(key) for key in unsettled_keys(kind="alert"))
    leaving = {number for number in found if number is not None}
    newer = Alert.objects.filter(monitor=OuterRef("monitor"), pk__gt=OuterRef("pk"))
    last = Alert.objects.filter(incident=OuterRef("pk"), monitor__removed_at=None)
    last = last.exclude(monitor=None).filter(~Exists(newer))
    rows = Incident.objects.filter(state=IncidentState.RESOLVED.value, resolved_at__lt=before)
    open_ = Alert.objects.filter(incident=OuterRef("pk"), closed_at=None)
    return rows.exclude(pk__in=leaving).filter(~Exists(last), ~Exists(open_)).order_by("pk")


def verdicts(before: datetime) -> QuerySet[VerdictChange]:
    """Said before then, and something else was said after it, before then too: how a bar begins."""
    later = VerdictChange.objects.filter(
        monitor=OuterRef("monitor"), seq__gt=OuterRef("seq"), at__lt=before
    )
    return VerdictChange.objects.filter(Exists(later), at__lt=before).order_by("pk")


def monitors(before: datetime) -> QuerySet[Monitor]:
    """Put away before then, with nothing open about them."""
    open_ = Alert.objects.filter(monitor=OuterRef("pk"), closed_at=None)
    return Monitor.objects.filter(~Exists(open_), removed_at__lt=before).order_by("pk")


def blindness(before: datetime) -> QuerySet[Blindness]:
    """Over before then; deadlines count from the newest, so that one stays."""
    newest = Blindness.objects.filter(open=False).order_by("-until_at", "-pk")[:1]
    rows = Blindness.objects.filter(open=False, until_at__lt=before)
    return rows.exclude(pk__in=list(newest.values_list("pk", flat=True))).order_by("pk")


def windows(before: datetime) -> QuerySet[MaintenanceWindow]:
    """Over or removed before then; one by cron ends only when somebody says so."""
    over = Q(ends_at__lt=before) | Q(removed_at__lt=before)
    return MaintenanceWindow.objects.filter(over).order_by("pk")
