"""An operator has a confirmed call undone: said in one transaction, done by the worker that takes the run."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import transaction

from runs.definition import gates
from runs.ledger import assignments, holding, lifecycle, transitions
from runs.ledger.commits import commits
from runs.models import Call, Run, Step, Wait
from runs.queries.clock import db_now
from runs.queries.undoing import Undoing, call_of, undoing_of
from runs.rules import canonical, undoing
from runs.rules.chain import Draft
from runs.rules.fence import Fence, FenceLost
from runs.rules.policy import Actor, Verb, require, require_fresh
from runs.rules.states import AssignmentState, RunState, StepState, WaitKind, WaitState
from runs.rules.undoing import ASKED, Undo
from runs.rules.verbs import NotNow


class NoSuchCall(LookupError):
    """This run has made no call under this key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compensating:
    """The run, queued for the worker that makes the undo under this key."""

    id: UUID
    state: str
    undo: str
    key: str


@commits("undo_placed")
def compensate(
    actor: Actor,
    run_id: UUID,
    *,
    key: str,
    because: str,
    typed: str = "",
    seen: str | None = None,
) -> Compensating:
    """Have the confirmed call `key` undone by what its effect declares, as a call of its own.

    Raises NotAllowed, NoSuchRun, NoSuchCall, RunChanged, NotNow, NotConfirmed, SignInTooOld.
    """
    with transaction.atomic():
        run, now = holding.visible_as_seen(actor, run_id, seen=seen), db_now()
        call = call_of(run, key)
        if call is None:
            raise NoSuchCall(f"Run {run.reference} has made no call under the key {key}.")
        found = undoing_of(run, call)
        if found.refusal or found.undo is None:
            raise NotNow(f"{call.effect} for {call.resource} cannot be undone now. {found.refusal}")
        if found.undo.irreversible:
            require(actor, Verb.DECIDE)
            require_fresh(actor, now=now)
        undoing.require_confirmed(found.undo, key=key, typed=typed)
        _withdraw(run, by=actor.name, because=because, now=now)
        wait = _say(run, found, found.undo, by=actor.name, now=now)
        _place(run, call, found.undo, wait, because=because, now=now)
    return Compensating(id=run.pk, state=run.state, undo=found.undo.effect.name, key=found.undo.key)


def _withdraw(run: Run, *, by: str, because: str, now: datetime) -> None:
    """A body that is entered again waits anew; what a person was asked is another question then."""
    rows = Wait.objects.filter(run=run, state=WaitState.OPEN.value)
    decisions = rows.filter(kind=WaitKind.DECISION.value)
    ended = {"state": WaitState.WITHDRAWN.value, "closed_at": now, "closed_by": by}
    withdrawn = decisions.update(**ended, superseded=True, fence=run.fence)
    withdrawn += rows.update(**ended, fence=run.fence)
    if withdrawn:
        for kind in gates.registered():
            gates.gate_for(kind).supersede(run.pk, because)
    assignments.close(run.pk, to=AssignmentState.RELEASED, outcome="a call is undone", now=now)


def _say(run: Run, found: Undoing, undo: Undo, *, by: str, now: datetime) -> Wait:
    """The operator's word, as a decision that is answered already: it allows exactly these bytes."""
    asked = undoing.question(
        undo,
        effect=found.call.effect,
        resource=found.call.resource,
        consequence=found.happens,
        redact=found.redact,
    )
    answer = canonical.dumps({"option": "compensate", "fields": {}, "by": by})
    return Wait.objects.create(
        run=run,
        step=run.step,
        generation=_step_of(run).generation,
        name=f"{ASKED}{found.call.key}",
        kind=WaitKind.DECISION.value,
        state=WaitState.RESOLVED.value,
        subject=canonical.dumps(asked),
        answer=answer,
        answer_digest=canonical.digest(answer),
        closed_by=by,
        opened_at=now,
        closed_at=now,
        fence=run.fence,
    )


def _step_of(run: Run) -> Step:
    return Step.objects.get(run=run, key=run.step, superseded=False)


def _place(run: Run, call: Call, undo: Undo, wait: Wait, *, because: str, now: datetime) -> None:
    Step.objects.filter(pk=_step_of(run).pk).update(
        state=StepState.PENDING.value, failures=0, ended_at=None, fence=run.fence
    )
    body = {
        "because": because,
        "key": call.key,
        "effect": call.effect,
        "resource": call.resource,
        "undo": undo.effect.name,
        "undo_key": undo.key,
        "decision": wait.pk,
        "from": run.state,
    }
    transitions.move(
        run,
        to=RunState.QUEUED,
        events=[Draft(kind="call.undo_asked", step=call.step, body=canonical.dumps(body))],
        now=now,
        actor=wait.closed_by,
        reason="",
        pause_requested=False,
        paused_at=None,
        paused_with=None,
    )
    reason = f"{wait.closed_by} has {call.effect} for {call.resource} undone"
    assignments.place(run, reason=reason[:300], now=now)


@commits("compensation_committed")
def book(
    fence: Fence, *, key: str, wait_id: int, by: str, undo: str, outcome: str, reason: str
) -> None:
    """What came of it: the confirmed call names its undo, the operator's word is used up, the run stops.

    All in one: whoever took a run over in between would enter the body, which nobody has asked for.
    `outcome` is "undone", or how the undo was refused; `reason` is why the run stands still then.
    """
    with transaction.atomic():
        run, now = transitions.hold(fence), db_now()
        call, done = Call.objects.get(run=run, key=key), outcome == "undone"
        word = Wait.objects.filter(pk=wait_id, superseded=False)
        if not word.update(superseded=True, fence=fence.number):
            raise FenceLost(fence)
        if done:
            source = undoing.source_of(call, undo=undo, by=by)
            Call.objects.filter(pk=call.pk).update(source=source, fence=fence.number)
        told = Draft(
            kind="call.compensated" if done else "call.not_compensated",
            step=call.step,
            body=canonical.dumps(
                {"key": key, "effect": call.effect, "resource": call.resource, "by": by}
                | {"state": call.state, "undone_by": undo, "outcome": outcome}
            ),
        )
        transitions.note(
            run, events=[told], now=now, actor=str(fence.worker_id), fence=fence.number
        )
        error_class = "Undone" if done else "NotUndone"
        lifecycle.fail_held(run, fence, reason=reason, error_class=error_class, now=now)
