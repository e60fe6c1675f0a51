"""Figures of monitors and alerts for a machine that watches them; each is bounded."""

from monitors.models import Alert, Blindness, Incident, Monitor
from monitors.rules.incidents import IncidentState, Severity
from monitors.rules.states import Verdict
from runs.queries.keyset import count_up_to
from runs.queries.metrics import COUNTED, MOST
from runs.queries.visibility import visible_to
from runs.rules.exposition import Family, gauge, gauges
from runs.rules.policy import Actor


def monitor_figures(actor: Actor) -> list[Family]:
    """What this actor may see of monitors, alerts and incidents."""
    monitors = visible_to(actor, Monitor.objects.filter(removed_at=None))
    alerts = visible_to(actor, Alert.objects.filter(closed_at=None))
    incidents = visible_to(actor, Incident.objects.all())
    open_ = (IncidentState.OPEN, IncidentState.ACKNOWLEDGED)
    by_verdict: dict[str, float] = {
        verdict.value: count_up_to(monitors.filter(verdict=verdict), cap=MOST)
        for verdict in Verdict
    }
    by_verdict["not_judged"] = count_up_to(monitors.filter(verdict=""), cap=MOST)
    return [
        gauges("monitors", f"Monitors by verdict{COUNTED}", by="verdict", values=by_verdict),
        gauges(
            "alerts_open",
            f"Open alerts by severity{COUNTED}",
            by="severity",
            values={one: count_up_to(alerts.filter(severity=one), cap=MOST) for one in Severity},
        ),
        gauges(
            "incidents",
            f"Incidents that are not resolved, by state{COUNTED}",
            by="state",
            values={one: count_up_to(incidents.filter(state=one), cap=MOST) for one in open_},
        ),
        gauge(
            "blind",
            "1 while no absence can be seen, because the pages take no pings",
            float(Blindness.objects.filter(open=True).exists()),
        ),
    ]
