"""What an operator has had undone is undone before the step's body is entered, and then the run stops."""

from runs.definition.effects import Effect, Refused, Undone
from runs.engine.caller import Caller, UndeclaredEffect
from runs.engine.secrets import safe
from runs.ledger import compensating
from runs.queries import resume
from runs.rules import undoing
from runs.rules.answers import Answered
from runs.rules.calls import CallRecord


class NotUndone(Undone):
    """The receiver has refused to undo what an operator wanted undone; it stands as it was."""


def carry_out(caller: Caller) -> None:
    """Raises Undone when there was something to undo, and NotUndone where that was refused."""
    for name, decided in [*caller.attempt.answers.items()]:
        if name.startswith(undoing.ASKED):
            _undo(caller, name.removeprefix(undoing.ASKED), decided)


def _undo(caller: Caller, key: str, decided: Answered) -> None:
    record, scope = resume.call_under(key)
    effect = _effect_of(caller, record, scope=scope)
    try:
        undo = caller.undo(effect, record, decided=decided)
    except Refused as refusal:
        reason = safe(refusal.reason)
        _book(caller, key, decided, undo=effect.name, outcome=f"refused: {reason}")
        raise NotUndone(
            f"{effect.name} for {record.resource} was not undone: the receiver refused: {reason}"
        ) from refusal
    _book(caller, key, decided, undo=undo.key, outcome="undone")
    raise Undone(
        f"{effect.name} for {record.resource} was undone by {undo.effect}, as {decided.by} wanted; it "
        "is not sent again."
    )


def _effect_of(caller: Caller, record: CallRecord, *, scope: str) -> Effect:
    steps = caller.session.workflow.steps
    effect = undoing.declared_in(steps, scope=scope, name=record.effect)
    if effect is None or effect.undo is None:
        raise UndeclaredEffect(
            f"{record.effect} declares no compensate= any more, so nothing undoes it."
        )
    return effect


def _book(caller: Caller, key: str, decided: Answered, *, undo: str, outcome: str) -> None:
    compensating.book(
        caller.session.fence,
        key=key,
        wait_id=decided.wait_id,
        by=decided.by,
        undo=undo,
        outcome=outcome,
    )
