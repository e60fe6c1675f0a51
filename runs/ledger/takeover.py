"""Take the work of a lost worker away from it, and place it again."""

from datetime import datetime
from uuid import UUID

from django.db import transaction

from runs.conf import CRASH_BUDGET
from runs.definition import gates
from runs.ledger import assignments, audit, lifecycle, openings, superseding, transitions
from runs.ledger.commits import commits, reached
from runs.models import Assignment, Call, Checkpoint, Run, Step
from runs.queries.clock import db_now
from runs.queries.overruns import overruns
from runs.queries.stopped import stopped_at
from runs.rules import canonical, surfacing
from runs.rules.chain import Draft
from runs.rules.fence import Fence
from runs.rules.limits import Breach, Cause, Limit
from runs.rules.states import FINAL, AssignmentState, CallState, RunState, StepState, WaitKind
from runs.rules.written import StepPlace, WaitDraft

ACTOR = "watch"


def raise_fences(worker_id: UUID, *, because: str) -> list[UUID]:
    """Make every write of a lost worker void, before anything else is done about it (R22)."""
    raised = []
    for run_id in _held_by(worker_id):
        with transaction.atomic():
            run = transitions.lock(run_id)
            if run.state != RunState.RUNNING or run.worker_id != worker_id:
                continue
            body = canonical.dumps({"worker": str(worker_id), "because": because})
            transitions.note(
                run,
                events=[Draft(kind="run.fence_raised", step=run.step, body=body)],
                now=db_now(),
                actor=ACTOR,
                fence=run.fence + 1,
            )
            Run.objects.filter(pk=run.pk).update(fence=run.fence + 1)
            raised.append(run_id)
            reached("fence_raised", run=str(run_id))
    return raised


def take_over(worker_id: UUID, *, because: str, crashed: bool = True) -> list[UUID]:
    """Give every run a lost worker held to the next one, or ask a person when it keeps dying.

    `crashed` is False for deaths by shutdown, which spend no crash budget (R28).
    """
    taken = []
    for run_id in _held_by(worker_id):
        with transaction.atomic():
            run = transitions.lock(run_id)
            if run.state == RunState.RUNNING and run.worker_id == worker_id:
                _take(run, worker_id, because=because, crashed=crashed)
                taken.append(run_id)
                reached("taken_over", run=str(run_id))
    return taken


@commits("late_write_committed", when=bool)
def note_rejected(fence: Fence) -> bool:
    """Tell that a replaced worker tried to write: in its run's chain, after the end in its tenant's (R37).

    False when nobody has replaced it, so that nothing was refused for its fence.
    """
    with transaction.atomic():
        run = transitions.lock(fence.run_id)
        if (run.fence, run.worker_id) == (fence.number, fence.worker_id):
            return False
        actor, now = str(fence.worker_id), db_now()
        body = {"run": str(run.pk), "fence": fence.number, "newest": run.fence, "worker": actor}
        late = Draft(kind="write.rejected", step=run.step, body=canonical.dumps(body))
        if RunState(run.state) in FINAL:
            audit.append_to_tenant(run.tenant_id, [late], now=now, actor=actor)
        else:
            transitions.note(run, events=[late], now=now, actor=actor, fence=fence.number)
    return True


def _held_by(worker_id: UUID) -> list[UUID]:
    # In order of their ids: two takers then wait for each other instead of deadlocking (R18).
    return list(
        Run.objects.filter(worker_id=worker_id, state=RunState.RUNNING.value)
        .order_by("id")
        .values_list("pk", flat=True)
    )


def _take(run: Run, worker_id: UUID, *, because: str, crashed: bool) -> None:
    now = db_now()
    overrun = list(overruns(run, now=now))
    run.fence += 1
    Run.objects.filter(pk=run.pk).update(fence=run.fence)
    step = Step.objects.get(run=run, key=run.step, superseded=False)
    if crashed:
        step.crashes = (0 if _came_further(run, step) else step.crashes) + 1
    assignments.close(run.pk, to=AssignmentState.LOST, outcome=because[:300], now=now)
    step.fence, step.state = run.fence, StepState.PENDING.value
    step.save(update_fields=["crashes", "fence", "state"])
    asks_now = crashed and step.crashes > 0 and step.crashes % CRASH_BUDGET == 0
    then = RunState.WAITING if asks_now else RunState.QUEUED
    body = {
        "worker": str(worker_id),
        "because": because,
        "crashed": crashed,
        "crashes": step.crashes,
    }
    taken = [
        *(breach.event(step=run.step, then=then.value) for breach in overrun),
        Draft(kind="run.taken_over", step=run.step, body=canonical.dumps(body)),
    ]
    if run.supersede_requested:
        transitions.note(run, events=taken, now=now, actor=ACTOR)
        if not superseding.stop(run, actor=ACTOR, now=now):
            lifecycle.end_paused(run, because=run.reason, actor=ACTOR, now=now)
    elif run.cancel_requested:
        transitions.note(run, events=taken, now=now, actor=ACTOR)
        lifecycle.end_cancelled(run, because=run.reason, actor=ACTOR, now=now)
    elif asks_now:
        _ask_about_crashes(run, step, taken, because=because, now=now)
    elif run.pause_requested:
        transitions.note(run, events=taken, now=now, actor=ACTOR)
    else:
        transitions.move(run, to=RunState.QUEUED, events=taken, now=now, actor=ACTOR)
        assignments.place(run, reason=because[:300], now=now)
    if run.pause_requested and run.state in (RunState.RUNNING, RunState.WAITING):
        # The holder is dead, so what it was asked for is done for it (R17).
        lifecycle.end_paused(run, because=run.reason, actor=ACTOR, now=now)


def _came_further(run: Run, step: Step) -> bool:
    """Whether the lost claim reached a checkpoint of this step or a call's result.

    The crash budget is for a step that stands still; one that comes further each time is alive.
    """
    claim = Assignment.objects.filter(run=run, state=AssignmentState.CLAIMED.value).first()
    if claim is None or claim.fence is None:
        return False
    pages = Checkpoint.objects.filter(run=run, step=step.key, fence=claim.fence, finished=False)
    calls = Call.objects.filter(
        run=run, step=step.key, fence=claim.fence, state=CallState.CONFIRMED.value
    )
    return pages.filter(awaiting="").exists() or calls.exists()


def _budget_used(step: Step) -> Breach:
    return Breach(
        limit=Limit.CRASHES,
        trigger=f"step {step.key}",
        elapsed=step.crashes,
        allowed=CRASH_BUDGET,
        cause=Cause.DESIGN,
    )


def _ask_about_crashes(
    run: Run, step: Step, taken: list[Draft], *, because: str, now: datetime
) -> None:
    asked = surfacing.crashes(stopped_at(run.pk), crashes=step.crashes, because=because)
    place = StepPlace(
        key=step.key, scope=step.scope, generation=step.generation, attempt=step.attempt
    )
    draft = WaitDraft(
        name=f"crashes {run.fence}", kind=WaitKind.DECISION, asks=canonical.dumps(asked)
    )
    opened = openings.open_wait(run, place, draft, now=now)
    gates.gate_for(opened.kind).open(openings.opened_wait(run, opened))
    Step.objects.filter(pk=step.pk).update(state=StepState.WAITING.value, fence=run.fence)
    transitions.move(
        run,
        to=RunState.WAITING,
        events=[
            *taken,
            _budget_used(step).event(step=step.key, then=RunState.WAITING.value),
            Draft(kind="run.parked", step=step.key, body=canonical.dumps({"wait": opened.name})),
            lifecycle.line(run, state=RunState.WAITING, reason=opened.name, in_flight=step.key),
        ],
        now=now,
        actor=ACTOR,
        reason="",
    )
