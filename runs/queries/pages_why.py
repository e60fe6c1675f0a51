"""Why a run stands where it stands, in one sentence, with since when and what comes next (I11)."""

import json
from dataclasses import dataclass
from datetime import datetime

from runs.models import Assignment, Run, Step, Wait
from runs.rules.states import RunState, WaitKind
from runs.rules.words import of

AFTER_DUE = {
    "resume": "the run goes on",
    "cancel": "the run is cancelled",
    "fail": "the run fails",
    "stay": "nothing changes: it stays open",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Why:
    """`next` says what happens then; `next_at` when, if the clock does it."""

    sentence: str
    since: datetime
    next: str = ""
    next_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """The rows that say where a run stands; each is absent where there is none."""

    run: Run
    step: Step | None = None
    wait: Wait | None = None
    assignment: Assignment | None = None


def why(standing: Standing) -> Why:
    run = standing.run
    match RunState(run.state):
        case RunState.QUEUED:
            return _queued(run, standing.assignment)
        case RunState.RUNNING:
            return _running(run, standing.step, standing.assignment)
        case RunState.WAITING if standing.wait is not None:
            return _waiting(standing.wait, standing.step)
        case RunState.FAILED:
            return Why(
                sentence=f"Failed in step {run.step}: {run.reason}",
                since=run.updated_at,
                next="It stays as it is until somebody acts; nothing it finished is lost.",
            )
        case RunState.PAUSED:
            return Why(
                sentence=f"Paused before {run.step}. {run.reason}".strip(),
                since=run.updated_at,
                next="It goes on when somebody resumes it.",
            )
        case _:
            return _ended(run)


def _queued(run: Run, assignment: Assignment | None) -> Why:
    if assignment is None:
        return Why(sentence=f"Queued at step {run.step}.", since=run.updated_at)
    because = "" if assignment.reason == "start" else f" ({assignment.reason})"
    return Why(
        sentence=f"Queued at step {run.step}{because}.",
        since=assignment.placed_at,
        next="The next free worker takes it.",
    )


def _running(run: Run, step: Step | None, assignment: Assignment | None) -> Why:
    done = _progress(step)
    asked = " A stop was asked for and comes at the next checkpoint." if _stops(run) else ""
    since = (step.started_at if step else None) or run.updated_at
    return Why(
        sentence=f"Executes step {run.step}{done}.{asked}",
        since=since,
        next="It goes on from its last checkpoint if the worker is lost.",
    )


def _stops(run: Run) -> bool:
    return run.cancel_requested or run.pause_requested


def _progress(step: Step | None) -> str:
    if step is None:
        return ""
    if step.progress_done is not None:
        total = f" of {step.progress_total:,}" if step.progress_total else ""
        return f", {step.progress_done:,}{total} done"
    return f", {step.cursor_ordinal:,} done" if step.cursor_ordinal else ""


def _waiting(wait: Wait, step: Step | None) -> Why:
    after = AFTER_DUE.get(wait.on_due, wait.on_due)
    return Why(
        sentence=waits_for(wait, step),
        since=wait.opened_at,
        next=f"{after}." if wait.due_at else "It stays open until it is answered.",
        next_at=wait.due_at,
    )


def waits_for(wait: Wait, step: Step | None) -> str:
    match WaitKind(wait.kind):
        case WaitKind.DECISION:
            return f"Waits for a decision: {question_of(wait)}"
        case WaitKind.EVENT:
            return f"Waits for event {wait.event_name} with id {wait.correlation_id}."
        case WaitKind.TIMER:
            return f"Sleeps in step {wait.step}: {_name(wait)}."
        case WaitKind.CAPACITY:
            return f"Waits for room: {_name(wait)}."
        case WaitKind.RETRY:
            failed = f" after {of(step.failures, 'failure')}: {step.error}" if step else ""
            return f"Waits before it tries step {wait.step} again{failed}"


def _name(wait: Wait) -> str:
    return wait.name.removeprefix(f"{wait.kind} ").removeprefix("sleep ").replace("_", " ")


def question_of(wait: Wait) -> str:
    """What a person is asked, or the wait's name where nothing was said."""
    asked = json.loads(wait.subject)
    return str(asked.get("question") or wait.name) if isinstance(asked, dict) else wait.name


def _ended(run: Run) -> Why:
    reason = f" {run.reason}" if run.reason not in ("", "done") else ""
    steps = "its one step is" if run.steps_total == 1 else f"all {run.steps_total} steps are"
    sentence = {
        RunState.SUCCEEDED: f"Succeeded: {steps} done.{reason}",
        RunState.CANCELLED: f"Cancelled at step {run.step}.{reason}",
        RunState.SUPERSEDED: f"Superseded by a new run.{reason}",
    }.get(RunState(run.state), run.state)
    return Why(sentence=sentence, since=run.ended_at or run.updated_at)
