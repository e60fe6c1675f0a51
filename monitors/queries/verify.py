"""Whether each change of verdict has its alert, and each alert its incident and its messages (I15)."""

from collections.abc import Iterator, Sequence

from django.db.models import Count, Max

from monitors.models import Alert, Incident, IncidentCause, Monitor, VerdictChange
from monitors.queries.watching import last_changes
from monitors.rules.incidents import IncidentState, key_of, number_in, says_trouble, says_well
from monitors.rules.states import MonitorState
from runs.queries.deliveries import keys_beginning
from runs.rules.violations import Violation

AT_ONCE = 200


def alerts_hold() -> Iterator[Violation]:
    """The last change of each monitor that is watched has its alert, or has closed it."""
    watched = Monitor.objects.filter(removed_at=None).exclude(state=MonitorState.PAUSED.value)
    ids = list(watched.order_by("pk").values_list("pk", flat=True))
    for start in range(0, len(ids), AT_ONCE):
        some = ids[start : start + AT_ONCE]
        alerts = _last_alerts(some)
        for monitor_id, change in sorted(last_changes(some).items()):
            yield from _wrong_with_last(change, alerts.get(monitor_id))


def _last_alerts(monitor_ids: Sequence[int]) -> dict[int, Alert]:
    rows = Alert.objects.filter(monitor__in=monitor_ids).order_by().values("monitor")
    newest = rows.annotate(last=Max("pk")).values("last")
    return {alert.monitor_id or 0: alert for alert in Alert.objects.filter(pk__in=newest)}


def _wrong_with_last(change: VerdictChange, alert: Alert | None) -> Iterator[Violation]:
    trouble = says_trouble(change.state, change.verdict)
    if trouble and (alert is None or alert.change != change.seq):
        yield _violation(f"Monitor {change.monitor} is {change.verdict}: no alert says so.")
    if says_well(change.state, change.verdict) and alert and alert.closed_at is None:
        yield _violation(f"Monitor {change.monitor} is well, and alert {alert.pk} is open.")


def incidents_hold() -> Iterator[Violation]:
    """What is over holds nothing open; what is open has a reason; every message told was put."""
    for incident in Incident.objects.order_by("pk").iterator(chunk_size=AT_ONCE):
        yield from (_violation(f"Incident {incident.pk} {what}.") for what in _wrong_with(incident))


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
