"""Open a wait from inside a step's body, or find that it has been answered."""

from datetime import timedelta
from itertools import count
from typing import Any

from django.db import connection

from runs.definition.timing import Timing
from runs.engine.interruptions import Parked
from runs.engine.session import Attempt, Session
from runs.ledger import waits
from runs.queries.clock import db_now
from runs.rules import canonical
from runs.rules.answers import Answered
from runs.rules.asks import Ask
from runs.rules.states import WaitKind, WaitState
from runs.rules.written import WaitDraft

# As long as the column that keeps it; what is longer ends in a digest of the whole.
LONGEST_NAME = 300


class InsideTransaction(RuntimeError):
    """Nothing may leave, be judged or be asked inside a transaction (R10)."""


class NameTaken(ValueError):
    """This attempt has already used this name; every ask, wait_for and sleep needs its own (R13)."""


def refuse_inside_transaction(what: str, attempt: Attempt) -> None:
    """What takes its time or cannot be rolled back stays outside of transactions (R10)."""
    if connection.in_atomic_block:
        raise InsideTransaction(
            f"Step {attempt.begun.key} used run.{what} inside a transaction, where a roll-back "
            "could not undo it. Take it out of the atomic block (or the transactional step)."
        )


def answered_or_park(
    session: Session,
    attempt: Attempt,
    *,
    name: str,
    ask: Ask,
    expires: float | None = None,
    on_expiry: str = "stay",
    timing: Timing | None = None,
) -> Answered:
    """The answer to a decision, or the run parks until there is one.

    One that is too old by now allows nothing: the same is asked once more.
    """
    asked = ask if timing is None else {**ask, "timing": timing.told()}
    valid_for = timing.valid_for if timing else None
    for number in count(1):
        again = name if number == 1 else f"{name} ({number})"
        draft = WaitDraft(
            name=again,
            kind=WaitKind.DECISION,
            after_seconds=expires,
            on_due=on_expiry,
            asks=canonical.dumps(asked),
        )
        found = wait(session, attempt, draft)
        if valid_for is None or found.holds(valid_for, now=db_now()):
            return found
        asked = {**asked, "asked_again": _too_old(found, valid_for)}
    raise AssertionError


def _too_old(answered: Answered, valid_for: timedelta) -> dict[str, Any]:
    """What the next decision says of the one that does not hold any more."""
    at = answered.at.isoformat() if answered.at else ""
    return {
        "wait": answered.wait_id,
        "by": answered.by,
        "at": at,
        "valid_for": valid_for.total_seconds(),
    }


def wait(session: Session, attempt: Attempt, draft: WaitDraft) -> Answered:
    """The wait of this name if it is closed; else it is opened and the body is left."""
    known = attempt.answers.get(draft.name)
    if known is not None:
        return known
    session.is_fresh = False
    parked = waits.park(session.fence, place=attempt.place, wait=draft, written=session.written)
    if parked.answer is None:
        raise Parked
    found = Answered(
        wait_id=parked.wait_id,
        state=WaitState.RESOLVED,
        answer=canonical.loads(parked.answer),
        asked={},
        by="event",
    )
    attempt.answers[draft.name] = found
    return found


def claim_name(attempt: Attempt, kind: str, name: str) -> str:
    """The name of a wait the author has named, once in the attempt, or in its page (R13)."""
    full = f"{kind} {name}" if attempt.page is None else f"{kind} {name} @{attempt.page}"
    if full in attempt.waits_named:
        raise NameTaken(
            f"Step {attempt.begun.key} used the name {name!r} for a second {kind}; "
            "give each its own name."
        )
    attempt.waits_named.add(full)
    if len(full) <= LONGEST_NAME:
        return full
    return f"{full[: LONGEST_NAME - 18]}… {canonical.digest(full)[:16]}"


def seconds(duration: timedelta | None) -> float | None:
    return duration.total_seconds() if duration is not None else None


def option_of(answered: Answered) -> Any:
    """Which option was chosen."""
    return (answered.answer or {}).get("option")
