"""The couriers of relayed calls: one process a receiver, one call at a time, nothing guessed (R6, R32)."""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, cast
from uuid import UUID

from django.db import Error, close_old_connections, connection

from runs.definition import registry
from runs.definition.effects import Effect, NotSent, Refused, RetryLater
from runs.engine import drill_rehearsal, faults, relaying, secrets
from runs.engine.envelope import as_kept, receiver_id_of, with_secrets
from runs.ledger import relayed, ticks
from runs.ledger import relaying as outbox
from runs.ledger.relaying import Delivery
from runs.queries import relay
from runs.queries.clock import db_now
from runs.rules import canonical, keys
from runs.rules.calls import CallRecord, what_to_do
from runs.rules.relaying import lane_of

log = logging.getLogger(__name__)

LOOK_EVERY = 0.2
SLOW_DUTIES_EVERY = 2.0
# Behind the call's own timeout: to book what came back, before the parent ends this process.
TO_BOOK = 5.0
# Behind that, until another courier may take the call: this one is gone by then.
TO_BE_GONE = 10.0

MustEnd = Callable[[float | None], None]


def lanes() -> list[str]:
    """One for each receiver that any known workflow reaches by relay."""
    return sorted({lane_of(effect.receiver) for effect in _relayed()})


def _relayed() -> list[Effect]:
    """Every known effect that leaves by relay, and what undoes one."""
    effects = [
        effect
        for workflow in registry.all_workflows()
        for step in workflow.steps
        for effect in step.effects
    ]
    return [each for effect in effects for each in _with_undo(effect) if each.relay]


def _with_undo(effect: Effect) -> list[Effect]:
    return [effect, *([effect.undo] if effect.undo else [])]


def run_lane(lane: str, *, stopped: Callable[[], bool], must_end: MustEnd) -> None:
    """Send what is due to one receiver, until stopped; what hangs is ended by the parent."""
    if drill_rehearsal.told():
        # In an installation made by a drill nothing reaches its own receiver, or nothing leaves.
        drill_rehearsal.arm()
    looked = 0.0
    while not stopped():
        try:
            close_old_connections()
            if time.monotonic() - looked >= SLOW_DUTIES_EVERY:
                looked = time.monotonic()
                ticks.note(f"courier {lane}"[:100], holder=lane)
                _free_dead(lane)
                outbox.sweep(lane)
            if not (relay.is_due(lane) and send_next(lane, must_end=must_end)):
                time.sleep(LOOK_EVERY)
        except Error as error:
            log.warning("courier.database_away", extra={"lane": lane, "error": str(error)})
            connection.close()
            time.sleep(LOOK_EVERY)


def send_all_due() -> int:
    """Send what is due in every lane, in this process: for tests and rehearsals."""
    sent = 0
    for lane in lanes():
        while relay.is_due(lane) and send_next(lane, must_end=lambda _: None):
            sent += 1
        outbox.sweep(lane)
    return sent


def _free_dead(lane: str) -> None:
    """A courier that was killed does not keep its call until the lease is over."""
    for message in relay.in_hands(lane):
        if message.senders and all(relaying.is_dead(sender) for sender in message.senders):
            outbox.free(message.id, fence=message.fence)


def send_next(lane: str, *, must_end: MustEnd) -> bool:
    """Take the next call of the lane, and bring it to where it is known or somebody has to look."""
    longest = max((each.timeout.total_seconds() for each in _effects_in(lane)), default=30.0)
    delivery = outbox.take(
        lane=lane,
        lease=timedelta(seconds=longest + TO_BOOK + TO_BE_GONE),
        sender=relaying.this_sender(),
    )
    if delivery is None:
        return False
    must_end(longest + TO_BOOK)
    faults.attend(cast("faults.Attended", _Attended.to(delivery)))
    try:
        _deliver(delivery)
    except outbox.CallMoved as moved:
        log.warning("relay.overtaken", extra={"key": delivery.call.key, "error": str(moved)})
        relayed.let_go(delivery)
    finally:
        faults.attend(None)
        must_end(None)
    return True


def _effects_in(lane: str) -> list[Effect]:
    return [effect for effect in _relayed() if lane_of(effect.receiver) == lane]


def _deliver(delivery: Delivery) -> None:
    effect = _effect_of(delivery)
    if effect is None:
        relayed.refrain(
            delivery,
            error=f"no code of {delivery.workflow} {delivery.version} with {delivery.call.effect} is here",
        )
        return
    match _what_to_do(effect, delivery.call):
        case "known":
            relayed.let_go(delivery)
        case "send":
            _send(effect, delivery, in_doubt=False)
        case "resend":
            _send(effect, delivery, in_doubt=True)
        case _:
            error = "a courier ended while it was sending this, and the receiver promises nothing"
            relayed.doubt(delivery, error=error, may_resend=False)


def _effect_of(delivery: Delivery) -> Effect | None:
    try:
        workflow = registry.get(delivery.workflow, delivery.version)
    except registry.UnknownWorkflow:
        return None
    return next(
        (
            effect
            for step in workflow.steps
            for declared in step.effects
            for effect in _with_undo(declared)
            # An undo may be made in a later step than the call that it undoes.
            if effect.name == delivery.call.effect
            and (step.scope == delivery.scope or effect is not declared)
        ),
        None,
    )


def _what_to_do(effect: Effect, call: CallRecord) -> str:
    return what_to_do(
        call,
        window=effect.contract.window if effect.contract else None,
        has_contract=effect.contract is not None,
        has_probe=effect.look_up is not None,
        timeout=effect.timeout,
        now=db_now(),
    )


def _send(effect: Effect, delivery: Delivery, *, in_doubt: bool) -> None:
    """`in_doubt` when an earlier sending may have happened, whatever becomes of this one."""
    if refused := _why_not(effect, delivery):
        relayed.refrain(delivery, error=refused)
        return
    call = outbox.leave(delivery)
    if call is None:
        return
    seconds = effect.timeout.total_seconds()
    try:
        answer = effect.send(with_secrets(call), key=call.key, timeout=seconds)
    except Refused as refusal:
        said = None if refusal.answer is None else as_kept(refusal.answer)
        relayed.refuse(delivery, reason=secrets.safe(refusal.reason), answer=said)
    except (NotSent, RetryLater) as unsent:
        after = unsent.after if isinstance(unsent, RetryLater) else None
        reason = secrets.describe(unsent)
        relayed.not_sent(delivery, reason=reason, after=after, in_doubt=in_doubt)
    # The rim of a call: whatever else comes out, nobody knows whether it happened (R7).
    except (Exception, SystemExit) as error:  # noqa: BLE001
        _doubted(effect, delivery, call, secrets.describe(error))
    else:
        _answered(effect, delivery, answer)


def _why_not(effect: Effect, delivery: Delivery) -> str:
    """The bytes and the declaration are compared with what was put, and approved, where they leave."""
    call = delivery.call
    digest = relaying.leaving_digest(effect, resource=call.resource, request=call.request)
    key = keys.idempotency_key(
        run_id=delivery.run_id,
        scope=delivery.scope,
        effect=effect.name,
        resource=call.resource,
        request_text=call.request,
    )
    as_put = digest == delivery.digest and key == call.key
    if not as_put or canonical.digest(call.request) != call.request_digest:
        return (
            "the effect is declared otherwise, or the bytes are others, than when it was put here"
        )
    if effect.irreversible and not call.authority:
        return "it cannot be undone, and nothing says who approved it"
    return ""


def _answered(effect: Effect, delivery: Delivery, answer: Any) -> None:
    faults.reach("sent")
    kept, receiver_id = as_kept(answer), receiver_id_of(effect, answer)
    faults.reach("before_result")
    relayed.confirm(delivery, answer=kept, receiver_id=receiver_id)


def _doubted(effect: Effect, delivery: Delivery, call: CallRecord, error: str) -> None:
    may_resend = _what_to_do(effect, call) == "resend"
    relayed.doubt(delivery, error=error, may_resend=may_resend)
    log.warning("call.ambiguous", extra={"key": call.key, "error": error, "relayed": True})


@dataclass(frozen=True, slots=True)
class _Begun:
    key: str


@dataclass(frozen=True, slots=True)
class _Of:
    run_id: UUID


@dataclass(frozen=True, slots=True)
class _Attended:
    """Whose call this process is about, for whoever rehearses failures of it."""

    begun: _Begun
    fence: _Of

    @classmethod
    def to(cls, delivery: Delivery) -> "_Attended":
        return cls(_Begun(delivery.call.step), _Of(delivery.run_id))
