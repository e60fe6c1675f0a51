"""The sentence about a run: from its rows, or from those that a page has read already for fifty."""

from dataclasses import dataclass, replace
from typing import Any

from runs.models import Assignment, Run, Step, Wait, Worker
from runs.queries.plans import plan_by_hash
from runs.queries.queued import ahead_of
from runs.queries.versions import why_nobody_takes
from runs.rules import canonical
from runs.rules.states import AssignmentState, RunState, WaitState, WorkerState
from runs.rules.version_asks import WAIT
from runs.rules.versions import Known, known_from
from runs.rules.why import Standing, Why, why


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """The rows that say where a run stands; each is absent where there is none."""

    run: Run
    step: Step | None = None
    wait: Wait | None = None
    assignment: Assignment | None = None
    workers_alive: int = 1
    known: Known | None = None
    ahead: int = 0


def why_of(run: Run) -> Why:
    """What this run waits for, since when, what happens next, and when (I11)."""
    rows = Rows(run=run)
    match RunState(run.state):
        case RunState.RUNNING:
            step = Step.objects.filter(run=run, key=run.step, superseded=False).first()
            rows = replace(rows, step=step)
        case RunState.WAITING:
            rows = replace(rows, **_wait_and_step(run))
        case RunState.QUEUED:
            rows = replace(rows, **_placed(run), **crew())
        case _:
            pass
    return why_from(rows)


def _wait_and_step(run: Run) -> dict[str, Any]:
    wait = Wait.objects.filter(run=run, state=WaitState.OPEN.value).first()
    if wait is None:
        return {}
    steps = Step.objects.filter(run=run, key=wait.step, generation=wait.generation)
    return {"wait": wait, "step": steps.first()}


def _placed(run: Run) -> dict[str, Any]:
    placed = Assignment.objects.filter(run=run, state=AssignmentState.PLACED.value).first()
    return {"assignment": placed, "ahead": ahead_of(placed) if placed else 0}


def why_from(rows: Rows) -> Why:
    """What the run waits for, since when, and what comes next (I11)."""
    run, plan = rows.run, plan_by_hash(rows.run.plan_id)
    ordinal = next((step.ordinal for step in plan.steps if step.key == run.step), 0)
    following = plan.steps[ordinal : ordinal + 1]
    standing = Standing(
        state=RunState(run.state),
        reason=run.reason,
        step=run.step,
        step_ordinal=ordinal,
        steps_total=run.steps_total,
        later=f"Then step {following[0].key}." if following else "",
        since=run.ended_at or run.updated_at,
        workers_alive=rows.workers_alive,
        unknown=_unknown(rows),
    )
    return why(replace(standing, **_facts(rows)))


def _unknown(rows: Rows) -> str:
    """Why no worker takes it; whoever chose to wait for its version is named."""
    said = why_nobody_takes(rows.run, rows.known) if rows.known else ""
    chosen = rows.assignment.reason if rows.assignment else ""
    if said and WAIT in chosen:
        return f"no live worker knows version {rows.run.version}; {chosen}"
    return said


def _facts(rows: Rows) -> dict[str, Any]:
    match RunState(rows.run.state):
        case RunState.QUEUED if rows.assignment is not None:
            return {"since": rows.assignment.placed_at, "ahead": rows.ahead}
        case RunState.RUNNING:
            return _in_hands(rows)
        case RunState.WAITING if rows.wait is not None:
            return _parked(rows.wait, rows.step)
        case _:
            return {}


def _in_hands(rows: Rows) -> dict[str, Any]:
    run, step = rows.run, rows.step
    return {
        "since": step.started_at if step else run.updated_at,
        "attempt": step.attempt if step else 0,
        "worker": name_of(run.worker) or "a worker",
        "cancel_requested": run.cancel_requested,
        "pause_requested": run.pause_requested,
        "supersede_requested": run.supersede_requested,
    }


def _parked(wait: Wait, step: Step | None) -> dict[str, Any]:
    return {
        "since": wait.opened_at,
        "attempt": step.attempt if step else 0,
        "error": step.error if step else "",
        "wait_kind": wait.kind,
        "wait_name": wait.name,
        "wait_due": wait.due_at,
        "on_due": wait.on_due,
        "asks": canonical.loads(wait.subject),
        "correlation_id": wait.correlation_id,
    }


def name_of(worker: Worker | None) -> str:
    return f"{worker.host}/{worker.pid}" if worker else ""


def crew() -> dict[str, Any]:
    """The workers that there are to take what is queued, and what they know; one query."""
    rows = Worker.objects.filter(state=WorkerState.LIVE.value).values_list("draining", "plans")
    found = list(rows)
    known = known_from(plans for draining, plans in found if not draining)
    return {"workers_alive": len(found), "known": known}


def question_of(wait: Wait) -> str:
    """What a person is asked, or the wait's name where nothing was said."""
    asked = canonical.loads(wait.subject)
    return str(asked.get("question") or wait.name) if isinstance(asked, dict) else wait.name
