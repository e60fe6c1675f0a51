"""What an author imports to write a workflow."""

from runs.definition.approvals import Approval, Waived
from runs.definition.context import Cursor, Judge, Judged, Page, Run
from runs.definition.effects import (
    Contract,
    Effect,
    NotSent,
    Probe,
    Refused,
    RetryLater,
    Secret,
    Undone,
    UndoUnsettled,
)
from runs.definition.migrating import Migrated, Position
from runs.definition.places import DeclarationError
from runs.definition.step import Retry, step
from runs.definition.timing import Timing
from runs.definition.workflow import Heartbeat, Workflow

__all__ = [
    "Approval",
    "Contract",
    "Cursor",
    "DeclarationError",
    "Effect",
    "Heartbeat",
    "Judge",
    "Judged",
    "Migrated",
    "NotSent",
    "Page",
    "Position",
    "Probe",
    "Refused",
    "Retry",
    "RetryLater",
    "Run",
    "Secret",
    "Timing",
    "UndoUnsettled",
    "Undone",
    "Waived",
    "Workflow",
    "step",
]
