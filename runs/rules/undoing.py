"""A confirmed call that is undone by what its effect declares: whether it can be, how, and what follows."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from runs.definition.effects import Effect
from runs.definition.step import StepDeclaration
from runs.rules import asks, canonical
from runs.rules.asks import AFTER_FAILURE
from runs.rules.redaction import under
from runs.rules.states import FINAL, CallState, RunState, WaitKind
from runs.rules.verbs import Stands

# How the wait is called that keeps an operator's word; the key of what is undone follows.
ASKED = "undo "
UNDONE = "; undone by "
TYPED = 6


class NotConfirmed(ValueError):
    """An undo that cannot itself be undone is confirmed by typing the end of the call's key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Undo:
    """The call that would be made: its effect, its own key, and its very bytes."""

    effect: Effect
    key: str
    resource: str
    request: str
    digest: str

    @property
    def irreversible(self) -> bool:
        return self.effect.irreversible


def resource_of(key: str) -> str:
    """The key of what is undone names the undo: its own key follows from it, and there is only one."""
    return f"undo {key}"


def request_of(*, key: str, resource: str, request: str, answer: str | None) -> str:
    """Everything that is known of the call: enough to find it, where the receiver has it."""
    return canonical.dumps(
        {
            "key": key,
            "resource": resource,
            "request": canonical.loads(request),
            "answer": canonical.loads(answer) if answer else None,
        }
    )


def declared_in(steps: Iterable[StepDeclaration], *, scope: str, name: str) -> Effect | None:
    """The effect of this name that the step of this scope declares."""
    effects = (each for step in steps if step.scope == scope for each in step.effects)
    return next((each for each in effects if each.name == name), None)


def source_of(call: Any, *, undo: str, by: str) -> str:
    """What a confirmed call says of where its answer is from, once it was undone."""
    return f"{call.source}{UNDONE}{undo}, person:{by}"[:300]


def may_be_undone(call: Any) -> bool:
    """Whether it is worth while to ask; how the run stands is another question."""
    return call.state == CallState.CONFIRMED and UNDONE not in call.source


def why_no_undo(
    stands: Stands,
    *,
    call_state: str,
    declares_one: bool,
    before: str = "",
    asked: bool = False,
    deadline_is_over: bool = False,
) -> str:
    """Empty when the call can be undone now; `before` is how an undo of it stands already."""
    if call_state != CallState.CONFIRMED:
        return f"The call is {call_state}; only a confirmed one is undone. What is in doubt is asked about."
    if not declares_one:
        return "Its effect declares no compensate=, so nothing is known that would undo it."
    if before or asked:
        return f"Its undo is {before or 'asked for'} already; a call is undone once."
    if stands.state in FINAL:
        return (
            f"Its run is {stands.state.value} and never changes again, so nothing more leaves in its "
            "name. Undo it by hand, or by a run that does."
        )
    if deadline_is_over:
        return "The deadline of its run is over. Resume it with a longer one first."
    return _why_not_standing(stands)


def _why_not_standing(stands: Stands) -> str:
    if stands.cancel_requested or stands.supersede_requested:
        return "Its run is being ended: its worker does so at its next checkpoint."
    if stands.waits_for == WaitKind.RELAY:
        return "Calls of its run are on their way. Wait until they are settled."
    asks_after_failure = stands.state is RunState.WAITING and stands.ask_kind in AFTER_FAILURE
    if stands.state in (RunState.FAILED, RunState.PAUSED) or asks_after_failure:
        return ""
    return (
        f"Its run is {stands.state.value}. Pause it first: a call is undone while its run has failed, "
        "is paused, or asks what to do after a failure."
    )


def what_happens(
    undo: Undo, *, effect: str, resource: str, step: str, withdraws: bool, redo: str = "resume"
) -> str:
    """What an operator's word does, in words."""
    grave = " That cannot be undone." if undo.irreversible else ""
    asked = " What it waits for now is withdrawn, and waited for anew." if withdraws else ""
    return (
        f"{undo.effect.name} is sent under its own key {undo.key}, to undo {effect} for {resource}; it "
        f"is told that call's key, request and answer.{grave} The call keeps its answer and is not sent "
        f"again: a step that names it is told that it was undone.{asked} Then the run stands as failed "
        f"at step {step} with that reason, for somebody to {redo}, replay or cancel it."
    )


def question(
    undo: Undo, *, effect: str, resource: str, consequence: str, redact: Iterable[str]
) -> asks.Ask:
    """What the operator has seen, as the wait keeps it: the bytes are bound by their digest (I7)."""
    call: Mapping[str, Any] = {
        "effect": undo.effect.name,
        "resource": undo.resource,
        "request": canonical.loads(undo.request),
        "request_digest": canonical.digest(undo.request),
        "key": undo.key,
        "state": "not sent",
        "digest": undo.digest,
    }
    return asks.ask(
        "undo",
        f"Undo {effect} for {resource}?",
        [asks.option("compensate", "Undo it", consequence, danger=True)],
        irreversible=undo.irreversible,
        call=call,
        redact=under([*redact], "request", "answer"),
    )


def require_confirmed(undo: Undo, *, key: str, typed: str) -> None:
    """Raises NotConfirmed where the undo is final and nobody has typed what is undone."""
    if undo.irreversible and typed.strip() != key[-TYPED:]:
        raise NotConfirmed(
            f"{undo.effect.name} cannot itself be undone: type the last {TYPED} characters of the key "
            "of the call that is to be undone."
        )
