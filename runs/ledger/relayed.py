"""What became of a relayed call, booked by its courier; the last one of a step lets its run go on."""

from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from runs.ledger import audit, effects, posting, transitions
from runs.ledger.commits import commits
from runs.ledger.consequences import Way, carry_out
from runs.ledger.relaying import BY, Delivery, changed, held, later, put_away
from runs.ledger.waits import close
from runs.models import Call, Message, Run, Wait
from runs.queries.clock import db_now
from runs.rules import canonical
from runs.rules.calls import CallRecord, record_of
from runs.rules.chain import Draft
from runs.rules.relaying import STUCK_AFTER, pause_after
from runs.rules.states import FINAL, CallState, DeliveryState, WaitKind, WaitState


@commits("relay_settled", when=bool)
def confirm(delivery: Delivery, *, answer: dict[str, Any], receiver_id: str) -> bool:
    """The receiver has done it: keep its answer, and let the run go on; False when it came too late."""
    text = canonical.dumps(answer)
    fields = {
        "answer": text,
        "answer_digest": canonical.digest(text),
        "receiver_id": receiver_id[:500],
        "source": "receiver",
        "error": "",
    }
    return _settle(delivery, to=CallState.CONFIRMED, late=answer, **fields)


@commits("relay_refused", when=bool)
def refuse(delivery: Delivery, *, reason: str, answer: dict[str, Any] | None) -> bool:
    """The receiver said no for certain: kept, and the run asks as for any refused call (R7)."""
    text = canonical.dumps(answer) if answer is not None else None
    fields = {
        "answer": text,
        "answer_digest": canonical.digest(text) if text is not None else "",
        "source": "receiver",
        "error": reason,
    }
    return _settle(delivery, to=CallState.REFUSED, late={"refused": reason}, **fields)


def _settle(delivery: Delivery, *, to: CallState, late: dict[str, Any], **fields: Any) -> bool:
    with transaction.atomic():
        run, message = held(delivery)
        now = db_now()
        if message is None or run.state in FINAL:
            _keep_late(run, delivery, late, now=now)
            if message is not None:
                put_away(message, delivery, to=DeliveryState.DEAD, error=f"its run is {run.state}")
            return False
        call = Call.objects.get(pk=delivery.call.id)
        call = changed(run, call, to=to, settled_at=now, **fields)
        event = effects.event_of(call, f"call.{to.value}", message=str(message.pk))
        transitions.note(run, events=[event], now=now, actor=BY, fence=run.fence)
        put_away(message, delivery, to=DeliveryState.DELIVERED, error=call.error)
        _wake(run, now=now)
    return True


@commits("relay_postponed", when=bool)
def not_sent(delivery: Delivery, *, reason: str, after: timedelta | None, in_doubt: bool) -> bool:
    """Nothing left the house: the same key later again; an earlier sending may be in doubt (I6)."""
    return _postpone(
        delivery,
        to=CallState.AMBIGUOUS if in_doubt else CallState.SENT,
        unsent=not in_doubt,
        kind="call.not_sent",
        error=reason,
        after=after,
    )


@commits("relay_doubted", when=bool)
def doubt(delivery: Delivery, *, error: str, may_resend: bool) -> bool:
    """It left, and nobody knows whether it happened (I6).

    Inside its contract's window it is sent again; else its step looks it up, or a person is asked.
    """
    if may_resend:
        return _postpone(
            delivery,
            to=CallState.AMBIGUOUS,
            unsent=False,
            kind="call.ambiguous",
            error=error,
            after=None,
        )
    with transaction.atomic():
        run, message = held(delivery)
        if message is None:
            return False
        now, call = db_now(), Call.objects.get(pk=delivery.call.id)
        if run.state in FINAL:
            put_away(message, delivery, to=DeliveryState.DEAD, error=error)
            return False
        call = changed(run, call, to=CallState.AMBIGUOUS, unsent=False, error=error)
        told = {"message": str(message.pk), "error": error}
        event = effects.event_of(call, "call.ambiguous", **told)
        transitions.note(run, events=[event], now=now, actor=BY, fence=run.fence)
        put_away(message, delivery, to=DeliveryState.HELD, error=error)
        _wake(run, now=now)
    return True


@commits("relay_refrained", when=bool)
def refrain(delivery: Delivery, *, error: str) -> bool:
    """It may not leave from here, and nothing has: it stays, and somebody is told."""
    with transaction.atomic():
        run, message = held(delivery)
        if message is None:
            return False
        now = db_now()
        if run.state in FINAL:
            put_away(message, delivery, to=DeliveryState.DEAD, error=f"its run is {run.state}")
            return True
        events = _stuck(message, delivery.call, error=error, now=now, at_once=True)
        transitions.note(run, events=events, now=now, actor=BY, fence=run.fence)
        later(message, delivery, after=pause_after(delivery.attempts), error=error)
    return True


def _postpone(
    delivery: Delivery,
    *,
    to: CallState,
    unsent: bool,
    kind: str,
    error: str,
    after: timedelta | None,
) -> bool:
    with transaction.atomic():
        run, message = held(delivery)
        if message is None:
            return False
        if run.state in FINAL:
            put_away(message, delivery, to=DeliveryState.DEAD, error=error)
            return False
        now, call = db_now(), Call.objects.get(pk=delivery.call.id)
        call = changed(run, call, to=to, unsent=unsent, error=error)
        events = [effects.event_of(call, kind, message=str(message.pk), error=error)]
        events += _stuck(message, record_of(call), error=error, now=now)
        transitions.note(run, events=events, now=now, actor=BY, fence=run.fence)
        later(message, delivery, after=after or pause_after(delivery.attempts), error=error)
    return True


def _stuck(
    message: Message, call: CallRecord, *, error: str, now: datetime, at_once: bool = False
) -> list[Draft]:
    """Once, when it has been tried too often to go on unseen."""
    if message.stuck_at is not None or not (at_once or message.attempts >= STUCK_AFTER):
        return []
    message.stuck_at = now
    message.save(update_fields=["stuck_at"])
    body = {
        "key": call.key,
        "effect": call.effect,
        "resource": call.resource,
        "message": str(message.pk),
        "attempts": message.attempts,
        "error": error,
    }
    return [Draft(kind="relay.stuck", step=call.step, body=canonical.dumps(body))]


def _keep_late(run: Run, delivery: Delivery, late: dict[str, Any], *, now: datetime) -> None:
    """Evidence for whoever decides about it, never a result (R25, R37)."""
    body = {
        "run": str(run.pk),
        "fence": run.fence,
        "key": delivery.call.key,
        "delivery": delivery.fence,
        "answer": late,
    }
    event = Draft(kind="call.late_answer", step=delivery.call.step, body=canonical.dumps(body))
    audit.append_to_tenant(delivery.tenant_id, [event], now=now, actor=BY)


def _wake(run: Run, *, now: datetime) -> None:
    """The run goes on when the last of its calls is known, or only it can find out."""
    if posting.is_awaited(run):
        return
    wait = (
        Wait.objects.select_for_update(no_key=True, of=("self",))
        .filter(run=run, state=WaitState.OPEN.value, kind=WaitKind.RELAY.value)
        .first()
    )
    if wait is None:
        return
    close(run, wait, to=WaitState.RESOLVED, answer="{}", by=BY, now=now)
    body = {"wait": wait.name, "kind": wait.kind, "state": wait.state, "by": BY}
    closed = Draft(kind="wait.closed", step=wait.step, body=canonical.dumps(body))
    way = Way(then="resume", by=BY, because="its calls have been sent", wait=wait)
    carry_out(run, way, closed=[closed], now=now)


@commits("relay_let_go", when=bool)
def let_go(delivery: Delivery) -> bool:
    """What it was to send is known by now, so it has nothing left to do."""
    with transaction.atomic():
        run, message = held(delivery)
        if message is None:
            return False
        put_away(message, delivery, to=DeliveryState.DELIVERED, error="")
        if run.state not in FINAL:
            _wake(run, now=db_now())
    return True
