"""Take the work of a lost worker away from it, and place it again."""

from datetime import datetime
from uuid import UUID

from django.db import transaction

from runs.conf import CRASH_BUDGET
from runs.definition import gates
from runs.ledger import assignments, lifecycle, transitions, waits
from runs.ledger.commits import reached
from runs.models import Assignment, Call, Checkpoint, Run, Step
from runs.queries.clock import db_now
from runs.rules import asks, canonical
from runs.rules.chain import Draft
from runs.rules.states import AssignmentState, CallState, RunState, StepState, WaitKind
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


def _held_by(worker_id: UUID) -> list[UUID]:
    # In order of their ids: two takers then wait for each other instead of deadlocking (R18).
    return list(
        Run.objects.filter(worker_id=worker_id, state=RunState.RUNNING.value)
        .order_by("id")
        .values_list("pk", flat=True)
    )


def _take(run: Run, worker_id: UUID, *, because: str, crashed: bool) -> None:
    now = db_now()
    run.fence += 1
    Run.objects.filter(pk=run.pk).update(fence=run.fence)
    step = Step.objects.get(run=run, key=run.step, superseded=False)
    if crashed:
        step.crashes = (0 if _came_further(run, step) else step.crashes) + 1
    assignments.close(run.pk, to=AssignmentState.LOST, outcome=because[:300], now=now)
    step.fence, step.state = run.fence, StepState.PENDING.value
    step.save(update_fields=["crashes", "fence", "state"])
    body = {"worker": str(worker_id), "because": because, "crashes": step.crashes}
    taken = Draft(kind="run.taken_over", step=run.step, body=canonical.dumps(body))
    if run.cancel_requested:
        transitions.note(run, events=[taken], now=now, actor=ACTOR)
        lifecycle.end_cancelled(run, because=run.reason, actor=ACTOR, now=now)
    elif crashed and step.crashes and step.crashes % CRASH_BUDGET == 0:
        _ask_about_crashes(run, step, taken, because=because, now=now)
    else:
        transitions.move(run, to=RunState.QUEUED, events=[taken], now=now, actor=ACTOR)
        assignments.place(run, reason=because[:300], now=now)


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


def _ask_about_crashes(run: Run, step: Step, taken: Draft, *, because: str, now: datetime) -> None:
    asked = asks.crash_budget_used(step=step.key, crashes=step.crashes, because=because)
    place = StepPlace(
        key=step.key, scope=step.scope, generation=step.generation, attempt=step.attempt
    )
    draft = WaitDraft(
        name=f"crashes {run.fence}", kind=WaitKind.DECISION, asks=canonical.dumps(asked)
    )
    opened = waits.open_wait(run, place, draft, now=now)
    gates.gate_for(opened.kind).open(waits.opened_wait(run, opened))
    Step.objects.filter(pk=step.pk).update(state=StepState.WAITING.value, fence=run.fence)
    transitions.move(
        run,
        to=RunState.WAITING,
        events=[
            taken,
            Draft(kind="run.parked", step=step.key, body=canonical.dumps({"wait": opened.name})),
            lifecycle.line(run, state=RunState.WAITING, reason=opened.name, in_flight=step.key),
        ],
        now=now,
        actor=ACTOR,
        reason="",
    )
