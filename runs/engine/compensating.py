"""What the undo of a call is told, and under which name it is kept."""

from runs.definition.effects import Effect, Undone
from runs.rules import canonical
from runs.rules.answers import Answered
from runs.rules.calls import CallRecord


def resource_of(record: CallRecord) -> str:
    """The key of what is undone names the undo: its own key follows from it, and there is only one."""
    return f"undo {record.key}"


def request_of(record: CallRecord) -> str:
    """Everything that is known of the call: enough to find it, where the receiver has it."""
    return canonical.dumps(
        {
            "key": record.key,
            "resource": record.resource,
            "request": canonical.loads(record.request),
            "answer": canonical.loads(record.answer) if record.answer else None,
        }
    )


def authority_of(decided: Answered) -> str:
    return f"decision:{decided.wait_id}"


def undone(effect: Effect, record: CallRecord) -> Undone:
    by = effect.undo.name if effect.undo else "nobody"
    return Undone(f"{effect.name} for {record.resource} was undone by {by}; it is not sent again.")
