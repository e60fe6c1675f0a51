"""The idempotency ledger: what is about to leave, what came back, what nobody knows."""

from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import F

from runs.ledger import audit, buffers, transitions
from runs.ledger.commits import commits
from runs.models import Call, Run
from runs.queries.clock import db_now
from runs.rules import canonical
from runs.rules.calls import CallDraft, CallRecord, record_of
from runs.rules.chain import Draft
from runs.rules.fence import Fence, FenceLost
from runs.rules.limits import Breach
from runs.rules.states import CallState, call_sources_of
from runs.rules.written import StepPlace, Written

# Those that left once and whose result is not final.
MAY_BE_SENT_AGAIN = frozenset(
    {CallState.INTENDED, CallState.SENT, CallState.AMBIGUOUS, CallState.REFUSED}
)


@commits("intent_committed")
def intend(fence: Fence, draft: CallDraft, *, place: StepPlace, written: Written) -> CallRecord:
    """Name the key, the request and the step before anything leaves the house (I4).

    The same commit keeps every judgement made so far in the attempt (R2).
    """
    with transaction.atomic():
        run, now = transitions.hold(fence), db_now()
        buffers.store_judgements(fence, place, written, now=now)
        call = named(run, fence, draft, place=place, now=now)
        _note(run, fence, call, "call.intended", now=now, authority=draft.authority)
    written.judgements.clear()
    return record_of(call)


def named(
    run: Run,
    fence: Fence,
    draft: CallDraft,
    *,
    place: StepPlace,
    now: datetime,
    unsent: bool = False,
) -> Call:
    """The row of a call before it leaves, in the caller's transaction; `unsent` for a courier."""
    return Call.objects.create(
        key=draft.key,
        run=run,
        step=place.key,
        scope=place.scope,
        generation=place.generation,
        effect=draft.effect,
        resource=draft.resource,
        request=draft.request,
        request_digest=draft.request_digest,
        irreversible=draft.irreversible,
        authority=draft.authority,
        undoes_id=draft.undoes,
        unsent=unsent,
        attempt=place.attempt,
        fence=fence.number,
        intended_at=now,
        sent_at=now,
    )


@commits("resend_committed")
def send_again(fence: Fence, call: CallRecord, *, allowed_by: str) -> CallRecord:
    """Book that a call whose result is unknown, or which never left, is sent once more (I6)."""
    with transaction.atomic():
        run, now = transitions.hold(fence), db_now()
        stored = _change(
            fence,
            call,
            to=CallState.SENT,
            also_from=(CallState.SENT,),
            unsent=False,
            sends=F("sends") + 1,
            sent_at=now,
        )
        _note(run, fence, stored, "call.sent_again", now=now, allowed_by=allowed_by)
    return record_of(stored)


@commits("result_committed")
def confirm(
    fence: Fence, call: CallRecord, *, answer: dict[str, Any], receiver_id: str, source: str
) -> CallRecord:
    """The receiver has done it: keep its answer, the answer's digest and its own id."""
    text = canonical.dumps(answer)
    return _settle(
        fence,
        call,
        to=CallState.CONFIRMED,
        answer=text,
        answer_digest=canonical.digest(text),
        receiver_id=receiver_id[:500],
        source=source[:300],
        error="",
    )


@commits("refusal_committed")
def refuse(
    fence: Fence, call: CallRecord, *, reason: str, answer: dict[str, Any] | None
) -> CallRecord:
    """The receiver said no for certain; kept, and not sent again in this run (I5)."""
    text = canonical.dumps(answer) if answer is not None else None
    return _settle(
        fence,
        call,
        to=CallState.REFUSED,
        answer=text,
        answer_digest=canonical.digest(text) if text is not None else "",
        error=reason,
        source="receiver",
    )


@commits("unsent_committed")
def keep_unsent(fence: Fence, call: CallRecord, *, reason: str) -> CallRecord:
    """Nothing left the house; the same key goes out at the next attempt (R7)."""
    with transaction.atomic():
        run, now = transitions.hold(fence), db_now()
        moved = Call.objects.filter(
            pk=call.id, state__in=[CallState.INTENDED.value, CallState.SENT.value]
        ).update(unsent=True, error=reason, fence=fence.number)
        if not moved:
            raise FenceLost(fence)
        stored = Call.objects.get(pk=call.id)
        _note(run, fence, stored, "call.not_sent", now=now, reason=reason)
    return record_of(stored)


@commits("doubt_committed")
def doubt(
    fence: Fence, call: CallRecord, *, error: str, breach: Breach | None = None
) -> CallRecord:
    """It left, and nobody knows whether it happened (I6); `breach` when its timeout was over."""
    with transaction.atomic():
        run, now = transitions.hold(fence), db_now()
        stored = _change(fence, call, to=CallState.AMBIGUOUS, also_from=(), error=error)
        if breach is not None:
            late = breach.event(step=stored.step, then=run.state)
            actor = str(fence.worker_id)
            transitions.note(run, events=[late], now=now, actor=actor, fence=fence.number)
        _note(run, fence, stored, "call.ambiguous", now=now, error=error)
    return record_of(stored)


@commits("compensation_committed")
def abandon(fence: Fence, call: CallRecord, *, by: str, undo: CallRecord) -> CallRecord:
    """Nobody will know whether it happened, and what may have happened is undone."""
    with transaction.atomic():
        run, now = transitions.hold(fence), db_now()
        stored = _change(
            fence,
            call,
            to=CallState.ABANDONED,
            also_from=(),
            settled_at=now,
            source=f"undone by {undo.key}, person:{by}"[:300],
        )
        _note(run, fence, stored, "call.compensated", now=now, undone_by=undo.key, by=by)
    return record_of(stored)


@commits("late_answer_committed")
def keep_late_answer(fence: Fence, call: CallRecord, *, answer: dict[str, Any]) -> None:
    """Keep what came back to a worker that had been replaced: evidence, never a result (R25, R37)."""
    body = {"run": str(fence.run_id), "fence": fence.number, "key": call.key, "answer": answer}
    late = Draft(kind="call.late_answer", step=call.step, body=canonical.dumps(body))
    with transaction.atomic():
        audit.append_to_tenant(fence.tenant_id, [late], now=db_now(), actor=str(fence.worker_id))


def _settle(fence: Fence, call: CallRecord, *, to: CallState, **fields: Any) -> CallRecord:
    with transaction.atomic():
        run, now = transitions.hold(fence), db_now()
        stored = _change(fence, call, to=to, also_from=(), settled_at=now, **fields)
        _note(run, fence, stored, f"call.{to.value}", now=now)
    return record_of(stored)


def _change(
    fence: Fence,
    call: CallRecord,
    *,
    to: CallState,
    also_from: tuple[CallState, ...],
    **fields: Any,
) -> Call:
    sources = [state.value for state in (*call_sources_of(to), *also_from)]
    moved = Call.objects.filter(pk=call.id, state__in=sources).update(
        state=to.value, fence=fence.number, **fields
    )
    if not moved:
        # The run is held, so only this fence writes its calls: the caller's view is out of date.
        raise FenceLost(fence)
    return Call.objects.get(pk=call.id)


def _note(run: Run, fence: Fence, call: Call, kind: str, *, now: datetime, **more: Any) -> None:
    event = event_of(call, kind, **more)
    transitions.note(run, events=[event], now=now, actor=str(fence.worker_id), fence=fence.number)


def event_of(call: Call, kind: str, **more: Any) -> Draft:
    """What the chain is told of a call, with `more` beside it."""
    body = {
        "key": call.key,
        "effect": call.effect,
        "resource": call.resource,
        "request_digest": call.request_digest,
        "state": call.state,
        "sends": call.sends,
        "receiver_id": call.receiver_id,
        "answer_digest": call.answer_digest,
        "source": call.source,
        **more,
    }
    return Draft(kind=kind, step=call.step, body=canonical.dumps(body))
