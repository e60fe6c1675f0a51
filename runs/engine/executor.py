"""Execute a claimed run, step after step, until a boundary."""

import logging
import random
from collections.abc import Callable
from enum import Enum, auto

from django.db import Error

from runs.definition.effects import NotSent, Refused, RetryLater
from runs.engine import parking, secrets
from runs.engine.caller import park_refused
from runs.engine.context import RunContext
from runs.engine.interruptions import HandBack, Parked, StopRequested
from runs.engine.limits import StepLimit, TimeIsUp
from runs.engine.session import Attempt, Keeper, Session, begin_attempt, open_session
from runs.engine.turning import finish_step, one_transaction, orphans
from runs.ledger import lifecycle, waits
from runs.queries import resume
from runs.rules import asks, canonical
from runs.rules.claims import Claimed
from runs.rules.fence import Fence, FenceLost
from runs.rules.retry import delay, exhausted, gives_up
from runs.rules.states import WaitKind
from runs.rules.written import WaitDraft

log = logging.getLogger(__name__)

UNSENT_AGAIN_AFTER = 5.0


class Went(Enum):
    """How an attempt ended."""

    ON = auto()
    STOPPED = auto()


class UnwrittenFact(RuntimeError):
    """A step came to its end without writing a fact that it declares in `writes`."""


class ReturnedValue(RuntimeError):
    """A step's body returned a value; nobody reads it, facts are written with `run.write`."""


def execute(claimed: Claimed, *, keeper: Keeper, stop_at_boundary: Callable[[], str]) -> None:
    """Work on a run until it ends, parks, is handed back, or is somebody else's.

    `stop_at_boundary` gives the reason to hand the run back at its next checkpoint, or "".
    """
    fence = claimed.fence
    facts = {"run": str(fence.run_id), "fence": fence.number}
    log.info("run.claimed", extra={**facts, "step": claimed.step.key, "reason": claimed.reason})
    try:
        _work(claimed, keeper, stop_at_boundary)
    except Parked:
        log.info("run.parked", extra=facts)
    except (StopRequested, HandBack) as left:
        _leave(fence, left)
    except FenceLost:
        log.warning("fence.lost", extra=facts)
    except Error:
        raise
    # The rim of the loop: a fault of the engine's own must not leave the run in nobody's hands.
    except Exception as error:
        log.exception("engine.failed", extra=facts)
        reason = f"The engine failed: {secrets.describe(error)}"
        lifecycle.fail(fence, reason=reason, error_class=type(error).__name__)


def _work(claimed: Claimed, keeper: Keeper, stop_at_boundary: Callable[[], str]) -> None:
    session = open_session(claimed, keeper=keeper, stop_at_boundary=stop_at_boundary)
    if claimed.cancel_requested or claimed.pause_requested:
        raise StopRequested
    while _attempt(session) is Went.ON:
        if because := stop_at_boundary():
            raise HandBack(because, entered=False)


def _leave(fence: Fence, left: StopRequested | HandBack) -> None:
    if isinstance(left, HandBack):
        lifecycle.hand_back(fence, because=left.because, entered=left.entered)
    else:
        lifecycle.stop_as_requested(fence)
    log.info("run.left", extra={"run": str(fence.run_id), "because": str(left)})


def _attempt(session: Session) -> Went:
    """Enter the current step's body once; whatever happens becomes a recorded outcome."""
    attempt = begin_attempt(session)
    limit = StepLimit(attempt.planned.timeout)
    context = RunContext(session, attempt, limit)
    try:
        context.planner.require_approval()
        if attempt.declared.transactional:
            with one_transaction(attempt):
                _enter(attempt, session, context, limit)
                return _finish(session, attempt, context)
        _enter(attempt, session, context, limit)
        return _finish(session, attempt, context)
    except Refused as refusal:
        park_refused(session, attempt, refusal)
        return _failed(session, attempt, refusal)
    except (RetryLater, NotSent) as later:
        return _later(session, attempt, later)
    except TimeIsUp as late:
        return _failed(session, attempt, late)
    # The rim of the loop: an author's error becomes a recorded outcome of the attempt. A
    # database that is away is nobody's error, unless it still answers when the outcome is booked.
    except Exception as error:  # noqa: BLE001
        return _failed(session, attempt, error)


def _enter(attempt: Attempt, session: Session, context: RunContext, limit: StepLimit) -> None:
    with limit.running():
        returned = attempt.declared.body(session.workflow, context)
    if returned is not None:
        raise ReturnedValue(
            f"Step {attempt.begun.key} returned {type(returned).__name__}; a step returns nothing. "
            "Write facts with run.write(name, value)."
        )


def _finish(session: Session, attempt: Attempt, context: RunContext) -> Went:
    context.planner.seal()
    unwritten = [name for name in attempt.declared.writes if name not in attempt.facts]
    if unwritten:
        raise UnwrittenFact(
            f"Step {attempt.begun.key} ended without writing {', '.join(unwritten)}: "
            "call run.write(...) for each, or take it out of writes=[...]."
        )
    _ask_about_orphans(session, attempt)
    advanced = finish_step(session, attempt)
    if session.begun.key == attempt.begun.key:
        return Went.STOPPED
    if advanced.cancel_requested or advanced.pause_requested:
        raise StopRequested
    return Went.ON


def _ask_about_orphans(session: Session, attempt: Attempt) -> None:
    keys = orphans(session, attempt)
    if not keys:
        return
    shown = [
        {"key": call.key, "effect": call.effect, "resource": call.resource, "state": call.state}
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
    session.written.accepted_keys.extend(keys)


def _later(session: Session, attempt: Attempt, later: RetryLater | NotSent) -> Went:
    after = later.after.total_seconds() if isinstance(later, RetryLater) else UNSENT_AGAIN_AFTER
    _park_retry(session, attempt, later, after=after, counts=isinstance(later, NotSent))
    return Went.STOPPED


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
        lifecycle.fail(session.fence, reason=described, error_class=type(error).__name__)
    elif exhausted(retry, failures):
        _park_exhausted(session, attempt, error, failures=failures)
    else:
        # Spreading retries in time needs no secrecy.
        after = delay(retry, failures, random=random.random())  # noqa: S311
        _park_retry(session, attempt, error, after=after.total_seconds(), counts=True)
    return Went.STOPPED


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
    waits.park(
        session.fence,
        place=attempt.place,
        wait=draft,
        written=session.written,
        failure=_failure(error, counts=counts),
    )


def _park_exhausted(
    session: Session, attempt: Attempt, error: BaseException, *, failures: int
) -> None:
    ask = asks.exhausted(
        step=attempt.begun.key,
        failures=failures,
        error_class=type(error).__name__,
        error=secrets.describe(error),
    )
    draft = WaitDraft(
        name=f"exhausted {attempt.begun.attempt}",
        kind=WaitKind.DECISION,
        asks=canonical.dumps(ask),
    )
    waits.park(
        session.fence,
        place=attempt.place,
        wait=draft,
        written=session.written,
        failure=_failure(error, counts=True, resets=True),
    )


def _failure(error: BaseException, *, counts: bool, resets: bool = False) -> waits.Failure:
    return waits.Failure(
        error_class=type(error).__name__,
        error=secrets.describe(error),
        counts=counts,
        resets=resets,
    )
