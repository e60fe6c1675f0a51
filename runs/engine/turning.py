"""The commit of a page, and of a whole step: what the attempt made becomes a checkpoint."""

import logging
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.db import DatabaseError, connection, transaction

from runs.definition.context import Cursor
from runs.engine import faults
from runs.engine.away import is_away
from runs.engine.interruptions import HandBack, StopRequested
from runs.engine.limits import StepLimit
from runs.engine.one_database import no_other_database
from runs.engine.session import Attempt, Following, Session
from runs.ledger import checkpoints
from runs.queries import resume
from runs.queries.audit_line import audit_line_after
from runs.rules import canonical
from runs.rules.chain import Draft
from runs.rules.claims import Advance, Advanced, NextStep, StepBegun
from runs.rules.planned import keys_digest
from runs.rules.states import StepState
from runs.rules.written import Written

log = logging.getLogger(__name__)

# SQLite has one writer: whoever holds it longer makes a lease renewal fail (R29).
LONGEST_ON_SQLITE = 2.0


class TransactionTooLong(RuntimeError):
    """A checkpoint's body or a transactional step held SQLite's only write lock too long."""


class CursorWentBack(ValueError):
    """A checkpoint's cursor lies before the last one; pages are taken in their order."""


@contextmanager
def one_transaction(attempt: Attempt) -> Iterator[None]:
    """Author's writes and the engine's commit together; too long a one is rolled back."""
    began = time.monotonic()
    with transaction.atomic():
        with no_other_database(attempt.begun.key):
            yield
        took = time.monotonic() - began
        if connection.vendor == "sqlite" and took > LONGEST_ON_SQLITE:
            raise TransactionTooLong(
                f"Step {attempt.begun.key} held a transaction for {took:.1f} s; on SQLite "
                f"{LONGEST_ON_SQLITE:.0f} s is the limit, because it has one writer. Do the slow "
                "part before the transaction, or take smaller pages."
            )


@contextmanager
def turn_page(
    session: Session, attempt: Attempt, cursor: Cursor, limit: StepLimit
) -> Iterator[None]:
    """One transaction of the author's writes and the cursor (`run.checkpoint`).

    The step's limit may interrupt the author's part of it, never its commit (R26).
    """
    if cursor.ordinal < attempt.cursor_ordinal:
        raise CursorWentBack(
            f"Step {attempt.begun.key} is at {attempt.cursor_ordinal} and would go back to "
            f"{cursor.ordinal}."
        )
    with limit.engine_at_work():
        before = None
        try:
            with one_transaction(attempt):
                with limit.authors_code():
                    yield
                before = _standing(session, attempt)
                advanced = _commit_page(session, attempt, cursor)
        except BaseException:
            if before is not None:
                # Rolled back: a body that goes on all the same must not pass over this page.
                _go_back(session, attempt, before)
            raise
        if advanced.cancel_requested or advanced.pause_requested:
            raise StopRequested
        if because := session.stop_at_boundary():
            raise HandBack(because, entered=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Standing:
    """Where an attempt stands before a page is committed."""

    cursor: Cursor
    keys_count: int
    keys_digest: str
    written: Written


def _standing(session: Session, attempt: Attempt) -> _Standing:
    return _Standing(
        cursor=Cursor(ordinal=attempt.cursor_ordinal, token=attempt.cursor_token),
        keys_count=session.keys_count,
        keys_digest=session.keys_digest,
        written=session.written.copy(),
    )


def _go_back(session: Session, attempt: Attempt, before: _Standing) -> None:
    attempt.cursor_ordinal, attempt.cursor_token = before.cursor.ordinal, before.cursor.token
    session.keys_count, session.keys_digest = before.keys_count, before.keys_digest
    session.written = before.written


def _commit_page(session: Session, attempt: Attempt, cursor: Cursor) -> Advanced:
    attempt.cursor_ordinal, attempt.cursor_token = cursor.ordinal, cursor.token
    body = {"cursor": cursor.ordinal, "keys": len(session.written.accepted_keys)}
    drafts = [Draft(kind="step.page", step=attempt.begun.key, body=canonical.dumps(body))]
    return _commit(session, attempt, finished=False, next_step=None, drafts=drafts)


def finish_step(session: Session, attempt: Attempt) -> Advanced:
    """The commit that ends a step and starts the next, or ends the run."""
    begun = attempt.begun
    following = session.plan.steps[begun.ordinal : begun.ordinal + 1]
    coming = following[0] if following else None
    next_step = (
        NextStep(key=coming.key, scope=coming.scope, ordinal=coming.ordinal) if coming else None
    )
    facts = canonical.dumps(attempt.facts)
    digest = canonical.digest(facts)
    advanced = _commit(
        session,
        attempt,
        finished=True,
        next_step=next_step,
        drafts=_finish_events(session, attempt, next_step, digest),
        facts=facts,
        facts_digest=digest,
    )
    session.facts.update(attempt.facts)
    session.done.append(_told(begun, digest))
    if next_step is not None:
        session.begun = StepBegun(
            key=next_step.key,
            scope=next_step.scope,
            ordinal=next_step.ordinal,
            generation=begun.generation,
            attempt=1,
            failures=0,
            crashes=0,
        )
    return advanced


def _finish_events(
    session: Session, attempt: Attempt, next_step: NextStep | None, facts_digest: str
) -> list[Draft]:
    begun = attempt.begun
    keys = len(session.written.accepted_keys)
    # Canonical as it stands here: two numbers and hexadecimal digits, their names in order.
    body = f'{{"attempt":{begun.attempt},"facts":"{facts_digest}","keys":{keys}}}'
    drafts = [Draft(kind="step.succeeded", step=begun.key, body=body)]
    if next_step is not None:
        drafts.append(Draft(kind="step.started", step=next_step.key, body='{"attempt":1}'))
        return drafts
    line = audit_line_after(
        session.claimed,
        done=[*session.done, _told(begun, facts_digest)],
        is_fresh=session.is_fresh,
        has_effects=any(step.effects for step in session.plan.steps),
    )
    drafts.append(Draft(kind="run.succeeded", step=begun.key))
    drafts.append(Draft(kind="audit.line", body=canonical.dumps(line)))
    return drafts


def _told(begun: StepBegun, facts_digest: str) -> dict[str, Any]:
    """A step that has succeeded, as the audit line tells it."""
    return {
        "key": begun.key,
        "generation": begun.generation,
        "state": StepState.SUCCEEDED.value,
        "attempt": begun.attempt,
        "failures": begun.failures,
        "crashes": begun.crashes,
        "facts_digest": facts_digest,
    }


def _commit(
    session: Session,
    attempt: Attempt,
    *,
    finished: bool,
    next_step: NextStep | None,
    drafts: list[Draft],
    facts: str = "{}",
    facts_digest: str = "",
) -> Advanced:
    written = session.written
    keys = written.accepted_keys
    digest = keys_digest(session.keys_digest, keys) if keys else session.keys_digest
    session.keys_count, session.keys_digest = session.keys_count + len(keys), digest
    ends = finished and next_step is None
    change = Advance(
        step=attempt.begun.key,
        generation=attempt.begun.generation,
        finished=finished,
        facts=facts,
        facts_digest=facts_digest,
        cursor_ordinal=attempt.cursor_ordinal,
        cursor_token=attempt.cursor_token,
        keys_count=session.keys_count,
        keys_digest=digest,
        plan_hash=session.plan.hash,
        version=session.plan.version,
        next_step=next_step,
        ends_run=ends,
        outcome="done" if ends else "",
        events=drafts,
    )
    faults.reach("before_commit")
    return _advanced(session, attempt, change)


def _advanced(session: Session, attempt: Attempt, change: Advance) -> Advanced:
    if change.ends_run and (then := _plans_to_take(session.following)):
        try:
            return _end_and_take(session, attempt, change, then)
        except DatabaseError as error:
            if is_away(error):
                raise
            # Whatever is wrong with the next run, this one has come to its end.
            log.exception("claim.refused", extra={"run": str(session.fence.run_id)})
    return checkpoints.advance(session.fence, change, place=attempt.place, written=session.written)


def _end_and_take(
    session: Session, attempt: Attempt, change: Advance, then: Sequence[str]
) -> Advanced:
    advanced = checkpoints.advance(
        session.fence, change, place=attempt.place, written=session.written, then=then
    )
    session.following.found(advanced.taken)
    return advanced


def _plans_to_take(following: Following) -> Sequence[str]:
    # An author's transaction may still be rolled back, and what it took with it.
    if connection.in_atomic_block or not following.is_wanted():
        return ()
    return following.plans


def orphans(session: Session, attempt: Attempt) -> list[str]:
    """Keys of calls that an earlier attempt made and this one did not name (R2)."""
    begun = attempt.begun
    if begun.attempt == 1 and begun.generation == 1:
        return []
    calls = resume.unaccepted_calls(
        session.fence.run_id, scope=begun.scope, generation=begun.generation
    )
    return [
        call.key
        for call in calls
        if call.key not in attempt.named_keys and call.state not in ("refused", "abandoned")
    ]
