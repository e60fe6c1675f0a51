"""Whether every call was named before it left, once, and is known or asked about (I4, I5, I6, R2)."""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from runs.models import AuditEvent, Call
from runs.queries.verify_subject import AT_ONCE, Subject, is_digest_of
from runs.rules.keys import idempotency_key
from runs.rules.states import UNSETTLED_CALLS, CallState, StepState, WaitState
from runs.rules.violations import Violation

ANSWERED = (CallState.CONFIRMED, CallState.REFUSED)


@dataclass(slots=True)
class Told:
    """What the audit events say of a run's calls, by key; `whole` unless a body was erased."""

    intended: Counter[str] = field(default_factory=Counter)
    again: Counter[str] = field(default_factory=Counter)
    whole: bool = True


def calls_hold(subject: Subject) -> Iterator[Violation]:
    told, places = _told(subject), set()
    rows = Call.objects.filter(run=subject.run).order_by("id")
    for call in rows.iterator(chunk_size=AT_ONCE):
        place = (call.scope, call.effect, call.resource)
        if place in places:
            yield subject.violates(
                "I5", f"{call.effect} for {call.resource} has a second call, {call.key}."
            )
        places.add(place)
        yield from _names_its_bytes(subject, call)
        yield from _keeps_its_answer(subject, call)
        yield from _was_told(subject, call, told)
        yield from _belongs_to_its_step(subject, call)


def _told(subject: Subject) -> Told:
    told = Told()
    rows = AuditEvent.objects.filter(
        run=subject.run, kind__in=["call.intended", "call.sent_again"]
    ).values_list("kind", "body")
    for kind, body in rows.iterator(chunk_size=AT_ONCE):
        if not body:
            told.whole = False
            continue
        counted = told.intended if kind == "call.intended" else told.again
        counted[json.loads(body)["key"]] += 1
    return told


def _names_its_bytes(subject: Subject, call: Call) -> Iterator[Violation]:
    if not is_digest_of(call.request, call.request_digest):
        yield subject.violates("I4", f"The request of {call.key} is not what its digest covers.")
    made = idempotency_key(
        run_id=subject.run.pk,
        scope=call.scope,
        effect=call.effect,
        resource=call.resource,
        request_text=call.request,
    )
    if made != call.key:
        yield subject.violates(
            "I4", f"The call {call.key} of {call.effect} for {call.resource} makes the key {made}."
        )


def _keeps_its_answer(subject: Subject, call: Call) -> Iterator[Violation]:
    if not is_digest_of(call.answer, call.answer_digest):
        yield subject.violates("I5", f"The answer of {call.key} is not what its digest covers.")
    confirmed, answered = call.state == CallState.CONFIRMED, call.state in ANSWERED
    if confirmed and call.answer is None:
        yield subject.violates("I5", f"{call.key} is confirmed and keeps no answer.")
    if answered and call.settled_at is None:
        yield subject.violates("I5", f"{call.key} is {call.state} and not settled.")


def _was_told(subject: Subject, call: Call, told: Told) -> Iterator[Violation]:
    """One event named it before it left, and one each time it was sent again."""
    if not told.whole:
        return
    if told.intended[call.key] != 1:
        yield subject.violates(
            "I4", f"{told.intended[call.key]} audit events say that {call.key} was intended."
        )
    if call.sends != 1 + told.again[call.key]:
        yield subject.violates(
            "I6",
            f"{call.key} was sent {call.sends} times; the audit says why {1 + told.again[call.key]}"
            " times.",
        )


def _belongs_to_its_step(subject: Subject, call: Call) -> Iterator[Violation]:
    if call.undoes_id is not None:
        yield from _undoes_one(subject, call)
        return
    declared = [
        effect
        for planned in subject.ever_planned(call.step)
        for effect in planned.effects
        if effect.name == call.effect and planned.scope == call.scope
    ]
    if not declared:
        yield subject.violates(
            "I4", f"Step {call.step} of the plan does not declare {call.effect} ({call.key})."
        )
        return
    if call.irreversible not in [effect.irreversible for effect in declared]:
        yield subject.violates("I7", f"{call.key} and its plan disagree on what can be undone.")
    done = any(
        step.key == call.step and step.generation == call.generation
        for step in subject.steps
        if step.state == StepState.SUCCEEDED
    )
    if done:
        yield from _is_settled(subject, call)


def _undoes_one(subject: Subject, call: Call) -> Iterator[Violation]:
    """An undo belongs to the call whose key it carries, and somebody has decided it."""
    undone = Call.objects.filter(undone_by=call, run=subject.run).first()
    if undone is None or call.resource != f"undo {undone.key}" or not call.authority:
        yield subject.violates("I7", f"{call.key} undoes a call that it does not name.")


def _is_settled(subject: Subject, call: Call) -> Iterator[Violation]:
    """A finished step leaves no call behind that nobody knows of, unless a person let it stand."""
    unsettled = call.state in UNSETTLED_CALLS and not call.unsent
    if call.checkpoint is None and call.state not in (CallState.REFUSED, CallState.ABANDONED):
        yield subject.violates(
            "R2", f"Step {call.step} is finished, and no checkpoint of it accepted {call.key}."
        )
    if unsettled and not _was_let_stand(subject, call):
        yield subject.violates(
            "I6", f"Step {call.step} is finished, and {call.key} is still {call.state}."
        )


def _was_let_stand(subject: Subject, call: Call) -> bool:
    return any(
        wait.step == call.step
        and wait.state == WaitState.RESOLVED
        and wait.name.startswith("orphans ")
        and call.key in wait.subject
        for wait in subject.waits
    )
