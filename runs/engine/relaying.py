"""The step's side of a relayed call: leave it to the couriers, and wait until it is known (R6)."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from runs.definition.effects import Effect
from runs.engine import identity
from runs.engine.interruptions import Parked
from runs.engine.session import Attempt, Session
from runs.ledger import waits
from runs.queries import relay
from runs.rules import canonical
from runs.rules.calls import CallDraft, CallRecord
from runs.rules.fingerprints import effect_fingerprint
from runs.rules.identity import ProcessIdentity
from runs.rules.planned import call_digest
from runs.rules.relaying import Relayed
from runs.rules.states import UNSETTLED_CALLS, WaitKind
from runs.rules.written import WaitDraft

AT_ONCE = 200


def relayed(
    effect: Effect, draft: CallDraft, *, known: CallRecord | None = None, allowed_by: str = ""
) -> Relayed:
    """What a courier is told; `allowed_by` as for a call that is sent once more."""
    return Relayed(
        draft=draft,
        known=known,
        receiver=effect.receiver,
        digest=leaving_digest(effect, resource=draft.resource, request=draft.request),
        alone=effect.contract is None,
        allowed_by=allowed_by,
    )


def leaving_digest(effect: Effect, *, resource: str, request: str) -> str:
    """Covers the effect as it is declared and the bytes: made again where they leave (I7, R4)."""
    return call_digest(
        effect=effect.name,
        fingerprint=effect_fingerprint(effect),
        resource=resource,
        request=request,
        evidence="null",
    )


def leave_to_couriers(session: Session, attempt: Attempt, calls: Sequence[Relayed]) -> None:
    """Park until none of the run's calls is left to send; returns when none is left already."""
    session.hold_lease()
    session.is_fresh = False
    first = calls[0].draft
    keys = [each.draft.key for each in calls]
    draft = WaitDraft(
        name=f"relay {first.key} {attempt.begun.attempt}",
        kind=WaitKind.RELAY,
        asks=canonical.dumps({"keys": keys, "effect": first.effect, "resource": first.resource}),
    )
    parked = waits.park(
        session.fence, place=attempt.place, wait=draft, written=session.written, relayed=calls
    )
    if parked.answer is None:
        raise Parked
    attempt.calls = None


def is_under_way(record: CallRecord) -> bool:
    """A courier has this call or will have it: whoever sends it beside would send it twice."""
    return record.state in UNSETTLED_CALLS and relay.is_left_to_a_courier(record.key)


def couriers_are_gone(record: CallRecord) -> bool:
    """Whether no courier that ever had this call can still send it (R1)."""
    return all(is_dead(sender) for sender in relay.senders_of(record.key))


def this_sender() -> str:
    """This process, as a message in its hands names it."""
    return json.dumps(asdict(identity.of_this_process()), sort_keys=True)


def is_dead(sender: str) -> bool:
    """Whether a process that had a message is proven dead; one that cannot be seen is not."""
    told: dict[str, Any] = json.loads(sender)
    process = ProcessIdentity(**told)
    return identity.life_of(process, seen_from=identity.of_this_process()) == "dead"
