"""A courier's side of a relayed call: take it, let it leave, put it away (R6)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Exists, F, OuterRef, Q

from runs.ledger import effects, transitions
from runs.ledger.commits import commits
from runs.models import Call, Message, Run
from runs.queries.clock import db_now
from runs.rules import canonical
from runs.rules.calls import CallRecord, record_of
from runs.rules.states import (
    FINAL,
    UNSETTLED_CALLS,
    CallState,
    DeliveryState,
    RunState,
    call_sources_of,
)

BY = "the relay"
# Two couriers of one lane must not each find the receiver free.
ONE_AT_A_TIME = "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))"
WHILE_PAUSED = timedelta(seconds=2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """A relayed call in a courier's hands: `fence` is the number of this delivery.

    `senders` are other processes that had it before and are not proven dead.
    """

    message_id: UUID
    run_id: UUID
    tenant_id: int
    workflow: str
    version: int
    scope: str
    call: CallRecord
    digest: str
    allowed_by: str
    attempts: int
    fence: int
    senders: tuple[str, ...]


@commits("relay_taken", when=bool)
def take(*, lane: str, lease: timedelta, sender: str) -> Delivery | None:
    """The next call of a lane that is due and whose turn it is, for as long as the lease.

    What another delivery was about when it ended comes first: the receiver may be busy with it.
    """
    with transaction.atomic():
        _hold_lane(lane)
        now = db_now()
        pending = Message.objects.filter(lane=lane, state=DeliveryState.PENDING.value)
        busy = pending.filter(lease_until__gte=now)
        if busy.filter(alone=True).exists():
            return None
        free = pending.filter(due_at__lte=now).filter(Q(lease_until=None) | Q(lease_until__lt=now))
        message = _next_of(free)
        if message is None or (message.alone and busy.exists()):
            return None
        others = tuple(canonical.loads(message.senders))
        # Whoever had it and is late may have put it away since it was read: that stands.
        taken = pending.filter(pk=message.pk, fence=message.fence).update(
            fence=message.fence + 1,
            attempts=message.attempts + 1,
            lease_until=now + lease,
            senders=canonical.dumps([*others, sender]),
        )
        if not taken:
            return None
        message.refresh_from_db()
    return _delivery(message, senders=others)


def _hold_lane(lane: str) -> None:
    # On SQLite the IMMEDIATE transaction already excludes everybody else.
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(ONE_AT_A_TIME, [f"lane|{lane}"])


def _next_of(free: Any) -> Message | None:
    """The oldest one before which nothing else of its resource has still to leave or be known."""
    before = Message.objects.filter(
        order_key=OuterRef("order_key"),
        state__in=[DeliveryState.PENDING.value, DeliveryState.HELD.value],
    ).filter(
        Q(created_at__lt=OuterRef("created_at"))
        | Q(created_at=OuterRef("created_at"), id__lt=OuterRef("id"))
    )
    found: Message | None = (
        free.exclude(Exists(before))
        .order_by(F("lease_until").asc(nulls_last=True), "due_at", "id")
        .first()
    )
    return found


def _delivery(message: Message, *, senders: tuple[str, ...]) -> Delivery:
    call = Call.objects.select_related("run").get(messages=message)
    payload = canonical.loads(message.payload)
    return Delivery(
        message_id=message.pk,
        run_id=call.run_id,
        tenant_id=message.tenant_id,
        workflow=call.run.workflow,
        version=call.run.version,
        scope=call.scope,
        call=record_of(call),
        digest=payload["digest"],
        allowed_by=payload["allowed_by"],
        attempts=message.attempts,
        fence=message.fence,
        senders=senders,
    )


@commits("relay_freed", when=bool)
def free(message_id: UUID, *, fence: int) -> bool:
    """Whoever had it is proven dead: it need not stay in its hands until the lease is over."""
    return bool(
        Message.objects.filter(
            pk=message_id, fence=fence, state=DeliveryState.PENDING.value
        ).update(lease_until=db_now() - timedelta(milliseconds=1), senders="[]")
    )


@commits("relay_left", when=bool)
def leave(delivery: Delivery) -> CallRecord | None:
    """Book that the call leaves now, before it does (I4); None when it must not."""
    with transaction.atomic():
        run, message = held(delivery)
        if message is None or not _wants_it(run, message, delivery):
            return None
        now, call = db_now(), Call.objects.get(pk=delivery.call.id)
        first = call.state == CallState.INTENDED and call.unsent
        to = CallState.INTENDED if first else CallState.SENT
        call = changed(
            run, call, to=to, unsent=False, sends=F("sends") + int(not first), sent_at=now
        )
        told = {"message": str(message.pk), "delivery": delivery.fence}
        kind = "call.left" if first else "call.sent_again"
        event = effects.event_of(call, kind, allowed_by=_allowed_by(delivery), **told)
        transitions.note(run, events=[event], now=now, actor=BY, fence=run.fence)
    return record_of(call)


def _allowed_by(delivery: Delivery) -> str:
    if delivery.call.unsent:
        return delivery.allowed_by or "it never left"
    return "the receiver's contract"


def held(delivery: Delivery) -> tuple[Run, Message | None]:
    """The run, then the message, if this delivery still has it."""
    run = transitions.lock(delivery.run_id)
    message = Message.objects.select_for_update(no_key=True, of=("self",)).filter(
        pk=delivery.message_id, fence=delivery.fence, state=DeliveryState.PENDING.value
    )
    return run, message.first()


def _wants_it(run: Run, message: Message, delivery: Delivery) -> bool:
    """Nothing leaves for a run that has ended or failed, or stands still."""
    if run.state in FINAL or run.state == RunState.FAILED:
        put_away(message, delivery, to=DeliveryState.DEAD, error=f"its run is {run.state}")
        return False
    if run.state == RunState.PAUSED:
        later(message, delivery, after=WHILE_PAUSED, error="its run is paused")
        # Looking whether it may leave is no fruitless delivery: those slow it down, and count as stuck.
        Message.objects.filter(pk=message.pk).update(attempts=delivery.attempts - 1)
        return False
    return True


def changed(run: Run, call: Call, *, to: CallState, **fields: Any) -> Call:
    """A held run's call moves as the table of moves allows, or stays in the state it has."""
    sources = {state.value for state in call_sources_of(to)} | {to.value}
    moved = Call.objects.filter(pk=call.pk, state__in=sources).update(
        state=to.value, fence=run.fence, **fields
    )
    if not moved:
        raise CallMoved(call)
    call.refresh_from_db()
    return call


class CallMoved(Exception):
    """What is known of this call does not allow the move; it was settled while it was away."""

    def __init__(self, call: Call) -> None:
        super().__init__(f"The call {call.key} is {call.state} meanwhile.")


def put_away(message: Message, delivery: Delivery, *, to: DeliveryState, error: str) -> None:
    """A held message is not to be delivered any more."""
    Message.objects.filter(pk=message.pk).update(
        state=to.value,
        settled_at=db_now(),
        lease_until=None,
        error=error,
        senders=canonical.dumps(list(delivery.senders)),
    )


def later(message: Message, delivery: Delivery, *, after: timedelta, error: str) -> None:
    """A held message is to be delivered, after this time."""
    Message.objects.filter(pk=message.pk).update(
        due_at=db_now() + after,
        lease_until=None,
        error=error,
        senders=canonical.dumps(list(delivery.senders)),
    )


@commits("relay_swept", when=bool)
def sweep(lane: str) -> int:
    """Put away what nobody has to send any more: its run has ended, or its call is settled."""
    unsettled = [state.value for state in UNSETTLED_CALLS]
    final = [state.value for state in FINAL]
    now, rows = db_now(), Message.objects.filter(lane=lane)
    in_doubt = rows.filter(state=DeliveryState.HELD.value)
    in_doubt = in_doubt.filter(~Q(call__state__in=unsettled) | Q(run__state__in=final))
    idle = rows.filter(state=DeliveryState.PENDING.value, run__state__in=final, lease_until=None)
    swept = 0
    for found, to, error in (
        (in_doubt, DeliveryState.DELIVERED, None),
        (idle, DeliveryState.DEAD, "its run has ended"),
    ):
        said = {} if error is None else {"error": error}
        ids = list(found.values_list("pk", flat=True)[:500])
        if ids:
            swept += _swept(ids, to=to, now=now, said=said)
    return swept


def _swept(ids: Sequence[UUID], *, to: DeliveryState, now: datetime, said: Any) -> int:
    rows = Message.objects.filter(pk__in=ids, lease_until=None).exclude(
        state__in=[DeliveryState.DELIVERED.value, DeliveryState.DEAD.value]
    )
    return rows.update(state=to.value, settled_at=now, **said)
