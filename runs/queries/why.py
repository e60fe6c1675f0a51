"""Gather what the sentence about a run is made of."""

from dataclasses import replace
from typing import Any

from runs.models import Assignment, Run, Step, Wait, Worker
from runs.queries.plans import plan_by_hash
from runs.rules import canonical
from runs.rules.states import AssignmentState, RunState, WaitState, WorkerState
from runs.rules.why import Standing, Why, why


def why_of(run: Run) -> Why:
    """What this run waits for, since when, what happens next, and when (I11)."""
    return why(_standing(run))


def _standing(run: Run) -> Standing:
    plan = plan_by_hash(run.plan_id)
    ordinal = plan.step(run.step).ordinal
    following = plan.steps[ordinal : ordinal + 1]
    standing = Standing(
        state=RunState(run.state),
        reason=run.reason,
        step=run.step,
        step_ordinal=ordinal,
        steps_total=run.steps_total,
        later=f"Then step {following[0].key}." if following else "",
        since=run.ended_at or run.updated_at,
    )
    match standing.state:
        case RunState.RUNNING:
            return replace(standing, **_in_hands(run))
        case RunState.WAITING:
            return replace(standing, **_parked(run))
        case RunState.QUEUED:
            return replace(standing, **_placed(run))
        case _:
            return standing


def _in_hands(run: Run) -> dict[str, Any]:
    step = Step.objects.filter(run=run, key=run.step, superseded=False).first()
    worker = run.worker
    return {
        "since": step.started_at if step else run.updated_at,
        "attempt": step.attempt if step else 0,
        "worker": f"{worker.host}, process {worker.pid}" if worker else "nobody",
        "lease_until": worker.lease_until if worker else None,
        "cancel_requested": run.cancel_requested,
        "pause_requested": run.pause_requested,
    }


def _parked(run: Run) -> dict[str, Any]:
    wait = Wait.objects.filter(run=run, state=WaitState.OPEN.value).first()
    if wait is None:
        return {"since": run.updated_at}
    step = Step.objects.filter(run=run, key=wait.step, generation=wait.generation).first()
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


def _placed(run: Run) -> dict[str, Any]:
    placed = Assignment.objects.filter(run=run, state=AssignmentState.PLACED.value).first()
    ahead = 0
    if placed is not None:
        ahead = Assignment.objects.filter(
            state=AssignmentState.PLACED.value, placed_at__lt=placed.placed_at
        )[:100].count()
    return {
        "since": placed.placed_at if placed else run.updated_at,
        "ahead": ahead,
        "workers_alive": Worker.objects.filter(state=WorkerState.LIVE.value).count(),
    }
