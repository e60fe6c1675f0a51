"""Whether each change of verdict has its alert, and each alert its incident and its messages (I15)."""

from collections.abc import Iterator
from typing import Any

from django.db.models import Count, Exists, OuterRef, QuerySet, Subquery

from monitors.models import Alert, Incident, IncidentCause, Monitor, VerdictChange
from monitors.rules.incidents import IncidentState, key_of, number_in, says_trouble, says_well
from monitors.rules.states import MonitorState
from runs.queries.deliveries import keys_beginning
from runs.rules.violations import Violation

AT_ONCE = 200
LOOKS = 5


def alerts_hold() -> Iterator[Violation]:
    """The last change of each monitor that is watched has its alert, or has closed it."""
    for change in _last_changes().iterator(chunk_size=AT_ONCE):
        trouble = says_trouble(change.state, change.verdict)
        if trouble and not change.has_alert:
            yield _violation(f"Monitor {change.monitor} is {change.verdict}: no alert says so.")
        if says_well(change.state, change.verdict) and change.open_alert:
            yield _violation(
                f"Monitor {change.monitor} is well, and alert {change.open_alert} is open."
            )


def _last_changes() -> QuerySet[Any]:
    """Of each monitor the last one, found by its index however much was said, beside its alerts."""
    watched = Monitor.objects.filter(removed_at=None).exclude(state=MonitorState.PAUSED.value)
    last = VerdictChange.objects.filter(monitor=OuterRef("pk")).order_by("-seq").values("pk")[:1]
    alerts = Alert.objects.filter(monitor=OuterRef("monitor")).order_by()
    rows = VerdictChange.objects.filter(pk__in=watched.values_list(Subquery(last)))
    # One statement: between two of them a change commits with its alert, and would seem to have none.
    return (
        rows.select_related("monitor")
        .annotate(
            has_alert=Exists(alerts.filter(change=OuterRef("seq"))),
            open_alert=Subquery(alerts.filter(closed_at=None).values("pk")[:1]),
        )
        .order_by("monitor")
    )


def incidents_hold() -> Iterator[Violation]:
    """What is over holds nothing open; what is open has a reason; every message told was put."""
    for incident in Incident.objects.order_by("pk").iterator(chunk_size=AT_ONCE):
        for what in wrong_as_it_stands(incident):
            yield _violation(f"Incident {incident.pk} {what}.")


def wrong_as_it_stands(incident: Incident, *, looks: int = LOOKS) -> list[str]:
    """Look again when it was written meanwhile: between two reads it is two different incidents."""
    found = list(_wrong_with(incident))
    again = Incident.objects.filter(pk=incident.pk).first() if found else None
    if again is None:
        return []
    if again.seq == incident.seq or not looks:
        return found
    return wrong_as_it_stands(again, looks=looks - 1)


def _wrong_with(incident: Incident) -> Iterator[str]:
    over = incident.state == IncidentState.RESOLVED.value
    still = incident.alerts.filter(closed_at=None).count()
    named = IncidentCause.objects.filter(incident=incident, open=True).exists()
    counted = incident.alerts.aggregate(all=Count("pk"), things=Count("subject", distinct=True))
    if over and (still or named):
        yield "is resolved, and still holds open alerts or would take new ones"
    if not over and not still and incident.tell_at is None:
        yield "is open for nothing, and would stay so"
    if (counted["all"], counted["things"]) != (incident.count, incident.affected):
        yield "counts other alerts than it has"
    put = {number_in(key) for key in keys_beginning(key_of(incident.pk))}
    for number in sorted(set(range(1, incident.messages + 1)) - put):
        yield f"has told people of message {number}, which was never put"


def _violation(text: str) -> Violation:
    return Violation(invariant="I15", run="", text=text)
