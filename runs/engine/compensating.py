"""What the undo of a call is told, and under which name it is kept."""

from runs.definition.effects import Effect, Undone, UndoUnsettled
from runs.rules import undoing
from runs.rules.answers import Answered
from runs.rules.calls import CallRecord
from runs.rules.states import UNSETTLED_CALLS


def resource_of(record: CallRecord) -> str:
    return undoing.resource_of(record.key)


def request_of(record: CallRecord) -> str:
    return undoing.request_of(
        key=record.key, resource=record.resource, request=record.request, answer=record.answer
    )


def authority_of(decided: Answered) -> str:
    return f"decision:{decided.wait_id}"


def undone(effect: Effect, record: CallRecord, undo: CallRecord | None) -> Undone:
    """What a step that names the call is told of it, as far as its undo has come."""
    what, by = f"{effect.name} for {record.resource}", effect.undo.name if effect.undo else "nobody"
    if undo is None or undo.state not in UNSETTLED_CALLS:
        return Undone(f"{what} was undone by {by}; it is not sent again.")
    if undo.unsent:
        return UndoUnsettled(f"{what} is to be undone by {by}, which has not left; not sent again.")
    return UndoUnsettled(
        f"Whether {what} was undone is in doubt: nobody knows whether {by} happened; not sent again."
    )
