"""What the undo of a call is told, and under which name it is kept."""

from runs.definition.effects import Effect, Undone
from runs.rules import undoing
from runs.rules.answers import Answered
from runs.rules.calls import CallRecord


def resource_of(record: CallRecord) -> str:
    return undoing.resource_of(record.key)


def request_of(record: CallRecord) -> str:
    return undoing.request_of(
        key=record.key, resource=record.resource, request=record.request, answer=record.answer
    )


def authority_of(decided: Answered) -> str:
    return f"decision:{decided.wait_id}"


def undone(effect: Effect, record: CallRecord) -> Undone:
    by = effect.undo.name if effect.undo else "nobody"
    return Undone(f"{effect.name} for {record.resource} was undone by {by}; it is not sent again.")
