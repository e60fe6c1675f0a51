"""Calls put into the outbox, in the very transaction that parks their step (R6)."""

from collections.abc import Sequence
from datetime import datetime

from runs.ledger import effects, transitions
from runs.models import Call, Message, Run
from runs.rules import canonical
from runs.rules.chain import Draft
from runs.rules.fence import Fence
from runs.rules.relaying import Relayed, lane_of, order_key
from runs.rules.states import CallState, DeliveryState
from runs.rules.written import StepPlace


def put(
    run: Run, fence: Fence, place: StepPlace, relayed: Sequence[Relayed], *, now: datetime
) -> None:
    """Name each call and leave it to a courier; one that waits for a courier already stays as it is."""
    events: list[Draft] = []
    for each in relayed:
        call = _named(run, fence, place, each, now=now, events=events)
        if call.state in (CallState.CONFIRMED, CallState.ABANDONED):
            continue
        if Message.objects.filter(call=call, state=DeliveryState.PENDING.value).exists():
            continue
        message = _message(run, call, each, now=now)
        events.append(
            effects.event_of(
                call, "call.relayed", message=str(message.pk), allowed_by=each.allowed_by
            )
        )
    transitions.note(run, events=events, now=now, actor=str(fence.worker_id), fence=fence.number)


def _named(
    run: Run,
    fence: Fence,
    place: StepPlace,
    each: Relayed,
    *,
    now: datetime,
    events: list[Draft],
) -> Call:
    """The call's row: nothing of a new one, or of one that is allowed anew, has left so far."""
    if each.known is None:
        call = effects.named(run, fence, each.draft, place=place, now=now, unsent=True)
        events.append(effects.event_of(call, "call.intended", authority=call.authority))
        return call
    call = Call.objects.get(pk=each.known.id)
    if each.allowed_by and not call.unsent and call.state in effects.MAY_BE_SENT_AGAIN:
        Call.objects.filter(pk=call.pk).update(
            state=CallState.SENT.value, unsent=True, fence=fence.number
        )
        call.refresh_from_db()
    return call


def _message(run: Run, call: Call, each: Relayed, *, now: datetime) -> Message:
    # What is put anew takes the place of the one that was held while the call was in doubt.
    Message.objects.filter(call=call, state=DeliveryState.HELD.value).update(
        state=DeliveryState.DEAD.value, settled_at=now
    )
    number = Message.objects.filter(call=call).count() + 1
    payload = {"key": call.key, "digest": each.digest, "allowed_by": each.allowed_by}
    return Message.objects.create(
        tenant_id=run.tenant_id,
        run=run,
        lane=lane_of(each.receiver),
        kind="call",
        dedup_key=f"relay {call.key} {number}",
        payload=canonical.dumps(payload),
        call=call,
        order_key=order_key(tenant_id=run.tenant_id, effect=call.effect, resource=call.resource),
        alone=each.alone,
        due_at=now,
        created_at=now,
    )


def take_back(run: Run, *, because: str, now: datetime) -> None:
    """What has not left a locked run leaves no more; its step names it anew, as it is allowed then (R3).

    Also what a courier has in its hands: it books that a call leaves under the run's lock.
    """
    Message.objects.filter(run=run, state=DeliveryState.PENDING.value, call__unsent=True).update(
        state=DeliveryState.DEAD.value, settled_at=now, lease_until=None, error=because
    )


def is_awaited(run: Run) -> bool:
    """Whether a courier still has something to send for this run."""
    return Message.objects.filter(
        run=run, call__isnull=False, state=DeliveryState.PENDING.value
    ).exists()
