"""What is stored: one noun a file, constraints named as sentences, no behaviour."""

from runs.models.artifact import Artifact
from runs.models.assignment import Assignment
from runs.models.audit import AuditEvent
from runs.models.call import Call
from runs.models.certificate import Certificate
from runs.models.channel import Channel
from runs.models.checkpoint import Checkpoint
from runs.models.drill import Drill, DrillUnderWay
from runs.models.event import Event
from runs.models.event_key import EventKey
from runs.models.judgement import Judgement
from runs.models.log_line import LogLine
from runs.models.note import Note
from runs.models.outbox import Message
from runs.models.plan import Plan
from runs.models.planned_call import PlannedCall
from runs.models.preference import Preference
from runs.models.replay import Replay
from runs.models.run import Run
from runs.models.saved_view import SavedView
from runs.models.schedule import Firing, Schedule
from runs.models.selection import Selection, SelectionItem
from runs.models.step import Step
from runs.models.tenant import Membership, Tenant
from runs.models.tick import Tick
from runs.models.wait import Wait
from runs.models.worker import Worker

__all__ = [
    "Artifact",
    "Assignment",
    "AuditEvent",
    "Call",
    "Certificate",
    "Channel",
    "Checkpoint",
    "Drill",
    "DrillUnderWay",
    "Event",
    "EventKey",
    "Firing",
    "Judgement",
    "LogLine",
    "Membership",
    "Message",
    "Note",
    "Plan",
    "PlannedCall",
    "Preference",
    "Replay",
    "Run",
    "SavedView",
    "Schedule",
    "Selection",
    "SelectionItem",
    "Step",
    "Tenant",
    "Tick",
    "Wait",
    "Worker",
]
