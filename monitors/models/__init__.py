"""What is stored of monitors: one noun a file, constraints named as sentences, no behaviour."""

from monitors.models.alert import Alert
from monitors.models.incident import Incident, IncidentCause
from monitors.models.monitor import Monitor
from monitors.models.ping import Ping
from monitors.models.ping_key import PingKey
from monitors.models.status_page import StatusPage
from monitors.models.verdict import Blindness, VerdictChange
from monitors.models.window import MaintenanceWindow

__all__ = [
    "Alert",
    "Blindness",
    "Incident",
    "IncidentCause",
    "MaintenanceWindow",
    "Monitor",
    "Ping",
    "PingKey",
    "StatusPage",
    "VerdictChange",
]
