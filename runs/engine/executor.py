"""Execute a claimed run, step after step, until a boundary."""

import logging
import random
from collections.abc import Callable
from contextlib import nullcontext, suppress
from enum import Enum, auto

from django.db import OperationalError, connection

from runs.definition.effects import Refused, RetryLater, Undone
from runs.engine import faults, parking, secrets, stopping, undoing
from runs.engine.away import AWAY, takes_no_writes
from runs.engine.context import RunContext
from runs.engine.interruptions import HandBack, Parked, StopRequested
from runs.engine.limits import DeadlineOver, StepLimit, TimeIsUp
from runs.engine.refusing import park_refused, refuse_unknown
from runs.engine.session import (
    Attempt,
    Following,
    Keeper,
    NewerCheckpoint,
    Session,
    begin_attempt,
    open_session,
)
from runs.engine.turning import finish_step, one_transaction, orphans
from runs.ledger import lifecycle, restarting, takeover, waits
from runs.queries import resume
from runs.queries.stopped import stopped_at
from runs.rules import asks, canonical, surfacing
from runs.rules.claims import Advanced, Claimed
from runs.rules.fence import Fence, FenceLost
from runs.rules.limits import Breach
from runs.rules.retry import delay, exhausted, gives_up
from runs.rules.states import WaitKind
from runs.rules.written import WaitDraft

log = logging.getLogger(__name__)


class Went(Enum):
    """How an attempt ended."""

    ON = auto()
    STOPPED = auto()


class UnwrittenFact(RuntimeError):
    """A step came to its end without writing a fact that it declares in `writes`."""


class ReturnedValue(RuntimeError):
    """A step's body returned a value; nobody reads it, facts are written with `run.write`."""


def execute(
    claimed: Claimed,
    *,
    keeper: Keeper,
    stop_at_boundary: Callable[[], str],
    following: Following,
) -> bool:
    """Work on a run until it ends, parks, or is handed back; False when it is somebody else's.

    `stop_at_boundary` gives the reason to hand the run back at its next checkpoint, or "".
    `following` is given the run that was taken where this one came to its end.
    """
    fence = claimed.fence
    facts = {"run": str(fence.run_id), "fence": fence.number}
    log.info("run.claimed", extra={**facts, "step": claimed.step.key, "reason": claimed.reason})
    try:
        _until_left(claimed, keeper, stop_at_boundary, following)
    except Parked:
        log.info("run.parked", extra=facts)
    except FenceLost:
        log.warning("fence.lost", extra=facts)
        takeover.note_rejected(fence)
        return False
    except AWAY:
        raise
    # The rim of the loop: a fault of the engine's own must not leave the run in nobody's hands.
    except Exception as error:
        if takes_no_writes(error):
            raise OperationalError(f"The database takes no writes now: {error}") from error
        log.exception("engine.failed", extra=facts)
        _fail(fence, error)
    return True


def _until_left(
    claimed: Claimed, keeper: Keeper, stop_at_boundary: Callable[[], str], following: Following
) -> None:
    try:
        _work(
            open_session(
                claimed, keeper=keeper, stop_at_boundary=stop_at_boundary, following=following
            )
        )
    except HandBack as left:
        lifecycle.hand_back(claimed.fence, because=left.because, entered=left.entered)
        log.info(
            "run.handed_back", extra={"run": str(claimed.fence.run_id), "because": left.because}
        )
    except NewerCheckpoint as newer:
        lifecycle.fail(claimed.fence, reason=str(newer), error_class=type(newer).__name__)
    except StopRequested:
        lifecycle.stop_as_requested(claimed.fence)
        log.info("run.stopped", extra={"run": str(claimed.fence.run_id)})


def _fail(fence: Fence, error: Exception) -> None:
    reason = f"The engine failed: {secrets.describe(error)}"
    with suppress(FenceLost):
        lifecycle.fail(fence, reason=reason, error_class=type(error).__name__)


def _work(session: Session) -> None:
    faults.attend(session)
    if session.claimed.cancel_requested or session.claimed.pause_requested:
        raise StopRequested
    session.ends_at = stopping.ends_at(session)
    while _attempt(session) is Went.ON:
        if because := session.stop_at_boundary():
            raise HandBack(because, entered=False)


def _attempt(session: Session) -> Went:
    """Enter the current step's body once; whatever happens becomes a recorded outcome."""
    attempt = begin_attempt(session)
    limit = StepLimit(attempt.planned.timeout, ends_at=session.ends_at)
    context = RunContext(session, attempt, limit)
    in_one = one_transaction(attempt) if attempt.declared.transactional else nullcontext()
    ending = False
    try:
        undoing.carry_out(context.caller)
        context.planner.require_approval()
        with in_one:
            _enter(attempt, session, context, limit)
            ending = True
            advanced = _finish(session, attempt, context)
    except (Refused, Undone) as refusal:
        return _refused(session, attempt, refusal)
    except RetryLater as later:
        _park_retry(session, attempt, later, after=later.after.total_seconds(), counts=False)
        return Went.STOPPED
    except DeadlineOver:
        _drop_cut_statement()
        return _stopped_at_deadline(session, attempt)
    except TimeIsUp as late:
        _drop_cut_statement()
        return _failed(session, attempt, late)
    except AWAY as error:
        if ending:
            # The commit may have been made and its answer lost: whoever claims next will see.
            raise
        return _failed(session, attempt, error)
    # The rim of the loop: an author's error, sys.exit() among them, becomes a recorded outcome of
    # the attempt. A database that is away is nobody's error, unless it answers when that is booked.
    except (Exception, SystemExit) as error:  # noqa: BLE001
        return _failed(session, attempt, error)
    return _went_on(session, attempt, advanced)


def _refused(session: Session, attempt: Attempt, refusal: Refused | Undone) -> Went:
    if isinstance(refusal, Refused):
        park_refused(session, attempt, refusal)
        return _failed(session, attempt, refusal)
    session.written.clear()
    if not isinstance(refusal, undoing.Booked):
        lifecycle.fail(session.fence, reason=str(refusal), error_class=type(refusal).__name__)
    return Went.STOPPED


def _went_on(session: Session, attempt: Attempt, advanced: Advanced) -> Went:
    faults.reach("finished", step=attempt.begun.key)
    if session.begun.key == attempt.begun.key:
        faults.reach("released")
        return Went.STOPPED
    if advanced.cancel_requested or advanced.pause_requested:
        raise StopRequested
    return Went.ON


def _stopped_at_deadline(session: Session, attempt: Attempt) -> Went:
    if not stopping.stop_held(session, attempt):
        raise HandBack("its deadline was raised meanwhile", entered=True)
    log.warning("run.deadline_over", extra={"run": str(session.fence.run_id)})
    return Went.STOPPED


def _drop_cut_statement() -> None:
    """The limit may have cut a statement off; its connection would refuse every other one."""
    if connection.vendor == "postgresql" and not connection.in_atomic_block:
        connection.close()


def _enter(attempt: Attempt, session: Session, context: RunContext, limit: StepLimit) -> None:
    faults.reach("before_body")
    with limit.running():
        returned = attempt.declared.body(session.workflow, context)
    faults.reach("after_body")
    if returned is not None:
        raise ReturnedValue(
            f"Step {attempt.begun.key} returned {type(returned).__name__}; a step returns nothing. "
            "Write facts with run.write(name, value)."
        )


def _finish(session: Session, attempt: Attempt, context: RunContext) -> Advanced:
    context.planner.seal()
    unwritten = [name for name in attempt.declared.writes if name not in attempt.facts]
    if unwritten:
        raise UnwrittenFact(
            f"Step {attempt.begun.key} ended without writing {', '.join(unwritten)}: "
            "call run.write(...) for each, or take it out of writes=[...]."
        )
    refuse_unknown(attempt)
    _ask_about_orphans(session, attempt)
    return finish_step(session, attempt)


def _ask_about_orphans(session: Session, attempt: Attempt) -> None:
    keys = orphans(session, attempt)
    if not keys:
        return
    shown = [
        {
            "key": call.key,
            "effect": call.effect,
            "resource": call.resource,
            "state": call.state,
            "accepted": call.checkpoint is not None,
        }
        for call in resume.unaccepted_calls(
            session.fence.run_id,
            scope=attempt.begun.scope,
            generation=attempt.begun.generation,
        )
        if call.key in keys
    ]
    name = f"orphans {canonical.digest(' '.join(sorted(keys)))[:16]}"
    ask = asks.orphaned(step=attempt.begun.key, calls=shown)
    parking.answered_or_park(session, attempt, name=name, ask=ask)
    for call in shown:
        kept = session.written.kept_keys if call["accepted"] else session.written.accepted_keys
        kept.append(str(call["key"]))


def _failed(session: Session, attempt: Attempt, error: BaseException) -> Went:
    session.written.planned.clear()
    session.written.artifacts.clear()
    retry, failures = attempt.declared.retry, attempt.begun.failures + 1
    described = secrets.describe(error)
    log.warning(
        "step.failed",
        extra={
            "run": str(session.fence.run_id),
            "step": attempt.begun.key,
            "attempt": attempt.begun.attempt,
            "error": described,
        },
    )
    if gives_up(retry, error) or (
        exhausted(retry, failures) and attempt.declared.on_exhausted == "stop"
    ):
        lifecycle.fail(
            session.fence,
            reason=described,
            error_class=type(error).__name__,
            breach=_breach(attempt, error),
        )
    elif exhausted(retry, failures) and _begun_anew(session, attempt, error):
        pass
    elif exhausted(retry, failures):
        _park_exhausted(session, attempt, error, failures=failures)
    else:
        # Spreading retries in time needs no secrecy.
        after = delay(retry, failures, random=random.random())  # noqa: S311
        _park_retry(session, attempt, error, after=after.total_seconds(), counts=True)
    return Went.STOPPED


def _begun_anew(session: Session, attempt: Attempt, error: BaseException) -> bool:
    """The posture was declared before the run began; whatever may have happened asks a person (R5)."""
    new = attempt.declared.restarts > 0 and restarting.restart_by_itself(
        session.fence,
        allowed=attempt.declared.restarts,
        error_class=type(error).__name__,
        error=secrets.describe(error),
    )
    if new:
        told = {"run": str(session.fence.run_id), "restarted_as": str(new)}
        log.warning("run.restarted", extra=told)
    return bool(new)


def _park_retry(
    session: Session, attempt: Attempt, error: BaseException, *, after: float, counts: bool
) -> None:
    """A retry is a wait, not a sleeping worker."""
    draft = WaitDraft(
        name=f"retry {attempt.begun.attempt}",
        kind=WaitKind.RETRY,
        after_seconds=after,
        on_due="resume",
    )
    _park(session, attempt, draft, error, counts=counts)


def _park_exhausted(
    session: Session, attempt: Attempt, error: BaseException, *, failures: int
) -> None:
    ask = surfacing.give_up(
        stopped_at(session.fence.run_id),
        failures=failures,
        error_class=type(error).__name__,
        error=secrets.describe(error),
    )
    draft = WaitDraft(
        name=f"exhausted {attempt.begun.attempt}",
        kind=WaitKind.DECISION,
        asks=canonical.dumps(ask),
    )
    _park(session, attempt, draft, error, counts=True, resets=True)


def _park(
    session: Session,
    attempt: Attempt,
    draft: WaitDraft,
    error: BaseException,
    *,
    counts: bool,
    resets: bool = False,
) -> None:
    failure = waits.Failure(
        error_class=type(error).__name__,
        error=secrets.describe(error),
        counts=counts,
        resets=resets,
        breach=_breach(attempt, error),
    )
    waits.park(
        session.fence, place=attempt.place, wait=draft, written=session.written, failure=failure
    )


def _breach(attempt: Attempt, error: BaseException) -> Breach | None:
    return error.breach(attempt.begun.key) if isinstance(error, TimeIsUp) else None
