"""What no step may end with: a call that nobody knows of, or a refusal that nobody was asked about."""

from runs.definition.effects import Refused
from runs.engine import parking
from runs.engine.envelope import as_shown
from runs.engine.session import Attempt, Session
from runs.queries.stopped import stopped_at
from runs.rules import surfacing
from runs.rules.calls import CallRecord
from runs.rules.states import UNSETTLED_CALLS, CallState


class AmbiguousCall(RuntimeError):
    """A call left and nobody knows whether it happened; the next attempt settles it by its key."""


def refuse_unknown(attempt: Attempt) -> None:
    """An author's `except` may hide that nobody knows of a call; no step ends before it is known (I6)."""
    for record in (attempt.calls or {}).values():
        named = record.key in attempt.named_keys and not record.unsent
        if named and record.state in UNSETTLED_CALLS:
            raise AmbiguousCall(
                f"{record.effect} for {record.resource} was sent and not answered, and step "
                f"{attempt.begun.key} went on as if it were known. Let the error of run.call pass."
            )


def park_refused(session: Session, attempt: Attempt, refusal: Refused) -> bool:
    """After a definite refusal the run asks; False when no call of this attempt was refused."""
    for record in (attempt.calls or {}).values():
        if record.state is CallState.REFUSED and record.key in attempt.named_keys:
            stopped = stopped_at(session.fence.run_id)
            effect = attempt.effect(record.effect)
            ask = surfacing.refused(
                stopped,
                call=as_shown(record),
                reason=refusal.reason,
                redact=effect.redact if effect else (),
            )
            parking.answered_or_park(session, attempt, name=refused_name(record), ask=ask)
    return False


def refused_name(record: CallRecord) -> str:
    """Under which name a person is asked about this refusal; every new one is another question."""
    return f"refused {record.key} {record.sends}"
