"""Why a run is where it is: what it waits for, since when, what happens next, and when (I11)."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from runs.rules.states import TAKES_EFFECT, RunState, WaitKind
from runs.rules.words import capped

MOST_AHEAD = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Why:
    """One sentence; `next` says what happens without anybody doing anything, `next_at` when."""

    sentence: str
    since: datetime | None
    next: str
    next_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """The facts that the sentence is made of."""

    state: RunState
    reason: str
    step: str
    step_ordinal: int
    steps_total: int
    later: str
    since: datetime | None
    attempt: int = 0
    error: str = ""
    worker: str = ""
    lease_until: datetime | None = None
    workers_alive: int = 0
    unknown: str = ""
    ahead: int = 0
    cancel_requested: bool = False
    pause_requested: bool = False
    supersede_requested: bool = False
    wait_kind: str = ""
    wait_name: str = ""
    wait_due: datetime | None = None
    on_due: str = ""
    asks: Any = None
    correlation_id: str = ""


def why(standing: Standing) -> Why:
    """The sentence for these facts."""
    match standing.state:
        case RunState.QUEUED:
            return _queued(standing)
        case RunState.RUNNING:
            return _running(standing)
        case RunState.WAITING:
            return _waiting(standing)
        case RunState.FAILED:
            return _of(
                standing,
                f"Failed in {_step(standing)}: {standing.reason}",
                "It stays open to be resumed or restarted.",
            )
        case RunState.PAUSED:
            return _of(
                standing,
                f"Paused before {_step(standing)}: {standing.reason or 'no reason given'}",
                "It goes on when somebody resumes it.",
            )
        case RunState.SUCCEEDED:
            done = (
                "its step is"
                if standing.steps_total == 1
                else f"all {standing.steps_total} steps are"
            )
            return _of(standing, f"Succeeded: {done} done", "Nothing.")
        case _:
            said = standing.state.value.capitalize()
            return _of(
                standing,
                f"{said} in {_step(standing)}: {standing.reason or 'no reason given'}",
                "Nothing.",
            )


def _queued(standing: Standing) -> Why:
    if not standing.workers_alive:
        return _of(
            standing,
            f"Queued at {_step(standing)}: no worker is alive",
            "It starts as soon as a worker is there (manage.py cluster).",
        )
    if standing.unknown:
        return _of(
            standing,
            f"Queued at {_step(standing)}: {standing.unknown}",
            "It goes on when a worker with the code of its version is there.",
        )
    ahead = f", {capped(standing.ahead, MOST_AHEAD)} ahead of it" if standing.ahead else ""
    return _of(
        standing,
        f"Queued at {_step(standing)}{ahead}",
        "The next free worker takes it.",
    )


def _running(standing: Standing) -> Why:
    asked = ""
    if standing.cancel_requested or standing.pause_requested:
        verb = "cancelled" if standing.cancel_requested else "paused"
        verb = "superseded" if standing.supersede_requested else verb
        asked = f"; it is {verb} at its next checkpoint"
    attempt = f", attempt {standing.attempt}" if standing.attempt > 1 else ""
    return Why(
        sentence=f"{_step(standing, capital=True)} is running on {standing.worker}{attempt}{asked}.",
        since=standing.since,
        next=standing.later or "Then the run is done.",
        next_at=None,
    )


def _waiting(standing: Standing) -> Why:
    match standing.wait_kind:
        case WaitKind.DECISION:
            text = (standing.asks or {}).get("question", standing.wait_name)
            said, following = f"Waits for a decision: {text}", _when_undecided(standing)
        case WaitKind.RETRY:
            said = f"{_step(standing, capital=True)} failed (attempt {standing.attempt}): {standing.error}"
            following = "It is tried again."
        case WaitKind.TIMER:
            said, following = (
                f"{_step(standing, capital=True)} sleeps ({standing.wait_name})",
                "It goes on.",
            )
        case WaitKind.EVENT:
            said = f"{_step(standing, capital=True)} waits for {standing.wait_name}"
            following = _when_no_event(standing)
        case WaitKind.CAPACITY:
            said, following = f"Waits until {standing.wait_name}", "Then it begins."
        case WaitKind.RELAY:
            said = f"{_step(standing, capital=True)} waits until its calls have left the outbox"
            following = (
                "A courier (manage.py watch) sends them, and the step goes on with the answers."
            )
        case _:
            said, following = f"Waits for {standing.wait_kind} {standing.wait_name}", "It goes on."
    return Why(
        sentence=_sentence(said),
        since=standing.since,
        next=following,
        next_at=standing.wait_due,
    )


def _when_undecided(standing: Standing) -> str:
    if standing.wait_due is None or standing.on_due == "stay":
        return "Nothing happens until somebody decides."
    if standing.on_due == TAKES_EFFECT:
        return "It has been answered. The answer takes effect then, unless it is taken back before."
    ends = "is cancelled" if standing.on_due == "cancel" else "fails"
    return f"If nobody has decided by then, the run {ends}."


def _when_no_event(standing: Standing) -> str:
    if standing.wait_due is None or standing.on_due == "stay":
        return "Nothing happens until the event comes."
    ends = "is cancelled" if standing.on_due == "cancel" else "fails"
    return f"If it has not come by then, the run {ends}."


def _of(standing: Standing, said: str, following: str) -> Why:
    return Why(sentence=_sentence(said), since=standing.since, next=following, next_at=None)


def _sentence(said: str) -> str:
    return said if said.endswith((".", "?", "!")) else f"{said}."


def _step(standing: Standing, *, capital: bool = False) -> str:
    word = "Step" if capital else "step"
    return f"{word} {standing.step} ({standing.step_ordinal or 1}/{standing.steps_total})"
