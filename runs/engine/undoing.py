"""What an operator has had undone is undone before the step's body is entered, and then the run stops."""

from runs.definition.effects import Effect, Refused, Undone
from runs.engine.caller import Caller, UndeclaredEffect
from runs.engine.secrets import safe
from runs.ledger import compensating
from runs.queries import resume
from runs.rules import undoing
from runs.rules.answers import Answered
from runs.rules.calls import CallRecord


class Booked(Undone):
    """What came of it is committed, and that the run stands still: nothing is left to be written."""


def carry_out(caller: Caller) -> None:
    """Raises Booked when there was something to undo, also where the receiver refused that."""
    for name, decided in [*caller.attempt.answers.items()]:
        if name.startswith(undoing.ASKED):
            raise Booked(_undo(caller, name.removeprefix(undoing.ASKED), decided))


def _undo(caller: Caller, key: str, decided: Answered) -> str:
    record, scope = resume.call_under(key)
    effect = _effect_of(caller, record, scope=scope)
    what = f"{effect.name} for {record.resource} was"
    try:
        undo = caller.undo(effect, record, decided=decided)
    except Refused as refusal:
        said = f"refused: {safe(refusal.reason)}"
        because = f"{what} not undone: the receiver {said}"
        _book(caller, key, decided, undo=effect.name, outcome=said, reason=because)
        return because
    because = f"{what} undone by {undo.effect}, as {decided.by} wanted; it is not sent again."
    _book(caller, key, decided, undo=undo.key, outcome="undone", reason=because)
    return because


def _effect_of(caller: Caller, record: CallRecord, *, scope: str) -> Effect:
    steps = caller.session.workflow.steps
    effect = undoing.declared_in(steps, scope=scope, name=record.effect)
    if effect is None or effect.undo is None:
        raise UndeclaredEffect(
            f"{record.effect} declares no compensate= any more, so nothing undoes it."
        )
    return effect


def _book(
    caller: Caller, key: str, decided: Answered, *, undo: str, outcome: str, reason: str
) -> None:
    compensating.book(
        caller.session.fence,
        key=key,
        wait_id=decided.wait_id,
        by=decided.by,
        undo=undo,
        outcome=outcome,
        reason=reason,
    )
