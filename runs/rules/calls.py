"""What the engine knows of a call, and what may be done about one whose result is unknown."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from runs.rules.states import CallState


@dataclass(frozen=True, slots=True, kw_only=True)
class CallDraft:
    """A call before its intent is committed."""

    key: str
    effect: str
    resource: str
    request: str
    request_digest: str
    irreversible: bool
    authority: str
    undoes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRecord:
    """A call as it is stored."""

    id: int
    key: str
    step: str
    generation: int
    effect: str
    resource: str
    request: str
    request_digest: str
    authority: str
    state: CallState
    unsent: bool
    sends: int
    attempt: int
    fence: int
    checkpoint: int | None
    answer: str | None
    receiver_id: str
    error: str
    intended_at: datetime
    sent_at: datetime


def record_of(row: Any) -> CallRecord:
    """The record that a stored row makes."""
    return CallRecord(
        id=row.pk,
        key=row.key,
        step=row.step,
        generation=row.generation,
        effect=row.effect,
        resource=row.resource,
        request=row.request,
        request_digest=row.request_digest,
        authority=row.authority,
        state=CallState(row.state),
        unsent=row.unsent,
        sends=row.sends,
        attempt=row.attempt,
        fence=row.fence,
        checkpoint=row.checkpoint,
        answer=row.answer,
        receiver_id=row.receiver_id,
        error=row.error,
        intended_at=row.intended_at,
        sent_at=row.sent_at,
    )


Doubt = Literal["known", "send", "resend", "probe", "ask"]


def what_to_do(
    call: CallRecord,
    *,
    window: timedelta | None,
    has_contract: bool,
    has_probe: bool,
    timeout: timedelta,
    now: datetime,
) -> Doubt:
    """The order of I6: a known result; else the contract inside its window; else the probe; else a person.

    The window counts wall time from the first intent's commit, and a resend with its timeout
    must fit in what is left of it (R9).
    """
    if call.state in (CallState.CONFIRMED, CallState.REFUSED):
        return "known"
    if call.unsent:
        return "send"
    if has_contract and (window is None or call.intended_at + window >= now + timeout):
        return "resend"
    return "probe" if has_probe else "ask"
