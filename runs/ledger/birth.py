"""A run is born in place of another one: queued, or standing ready until that one has let go."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from runs.conf import CHECKPOINT_SCHEMA
from runs.definition import gates
from runs.ledger import assignments, audit, ending, openings
from runs.models import Artifact, Checkpoint, PlannedCall, Run, Step
from runs.models.run import new_run_id
from runs.rules import canonical
from runs.rules.chain import Draft
from runs.rules.plan import Plan
from runs.rules.states import RunState, StepState, WaitKind
from runs.rules.written import StepPlace, WaitDraft

Row = TypeVar("Row", PlannedCall, Artifact)


@dataclass(frozen=True, slots=True, kw_only=True)
class Heir:
    """Who takes the place: its plan, its input, and the finished steps that it is given.

    It is known by the old run's reference and labels unless it has its own.
    """

    old: Run
    plan: Plan
    input: str
    started_by: str
    because: str
    given: Sequence[Step] = ()
    begins_behind: int | None = None
    automatic_restarts: int = 0
    reference: str = ""
    labels: Mapping[str, str] | None = None
    start_key: str | None = None


def born(heir: Heir, *, now: datetime, waits_for: WaitDraft | None = None) -> Run:
    """The new run with its first event; it is placed, unless it `waits_for` something first."""
    run = _row(heir, ready=waits_for is None, now=now)
    first = heir.plan.steps[len(heir.given)]
    for step in heir.given:
        _give(run, step, now=now)
    Step.objects.create(
        run=run,
        key=first.key,
        scope=first.scope,
        ordinal=first.ordinal,
        fence=0,
        state=(StepState.PENDING if waits_for is None else StepState.WAITING).value,
    )
    audit.append(run, [_started(run, heir)], now=now, actor=heir.started_by)
    if waits_for is None:
        _save(run)
        assignments.place(run, reason=f"begun in place of {heir.old.pk}"[:300], now=now)
    else:
        stand_ready(run, waits_for, now=now, by=heir.started_by)
    return run


def stand_ready(
    run: Run, draft: WaitDraft, *, now: datetime, by: str, closed: Sequence[Draft] = ()
) -> None:
    """A locked run that has not begun waits for this; `closed` tells what it waited for before."""
    step = Step.objects.get(run=run, key=run.step)
    place = StepPlace(key=step.key, scope=step.scope, generation=1, attempt=0)
    opened = openings.open_wait(run, place, draft, now=now)
    gates.gate_for(opened.kind).open(openings.opened_wait(run, opened))
    run.checkpoint += 1
    last = Checkpoint.objects.filter(run=run).order_by("-number").first()
    _milepost(
        run,
        step,
        number=run.checkpoint,
        now=now,
        awaiting=f"{opened.kind} {opened.name}"[:300],
        output=last.output_digest if last else "",
    )
    parked = {"wait": opened.name, "kind": opened.kind, "due_at": None, "on_due": "stay"}
    events = [*closed, Draft(kind="run.parked", step=step.key, body=canonical.dumps(parked))]
    if opened.kind == WaitKind.DECISION:
        reason = f"waits for a decision: {opened.name}"
        events.append(ending.line(run, state=RunState.WAITING, reason=reason, in_flight=step.key))
    audit.append(run, events, now=now, actor=by)
    _save(run)


def _save(run: Run) -> None:
    Run.objects.filter(pk=run.pk).update(seq=run.seq, head=run.head, checkpoint=run.checkpoint)


def _row(heir: Heir, *, ready: bool, now: datetime) -> Run:
    old, first = heir.old, heir.plan.steps[len(heir.given)]
    return Run.objects.create(
        id=new_run_id(),
        tenant_id=old.tenant_id,
        workflow=heir.plan.name,
        version=heir.plan.version,
        plan_id=heir.plan.hash,
        reference=heir.reference or old.reference,
        labels=old.labels if heir.labels is None else dict(heir.labels),
        start_key=heir.start_key,
        input=heir.input,
        input_digest=canonical.digest(heir.input),
        started_by=heir.started_by,
        state=(RunState.QUEUED if ready else RunState.WAITING).value,
        step=first.key,
        step_ordinal=first.ordinal,
        steps_total=len(heir.plan.steps),
        restart_of=old,
        restart_from=heir.begins_behind,
        automatic_restarts=heir.automatic_restarts,
        supersede_requested=False,
        created_at=now,
        updated_at=now,
    )


def _started(run: Run, heir: Heir) -> Draft:
    body: Mapping[str, Any] = {
        "workflow": run.workflow,
        "version": run.version,
        "plan_hash": run.plan_id,
        "input_digest": run.input_digest,
        "reference": run.reference,
        "start_key": run.start_key,
        "restart_of": str(heir.old.pk),
        "begins_behind": heir.begins_behind,
        "given": [step.key for step in heir.given],
        "because": heir.because,
    }
    return Draft(kind="run.started", body=canonical.dumps(body))


def _give(run: Run, step: Step, *, now: datetime) -> None:
    """A finished step of the old run, with its plan and its files, as a kept fact of the new one.

    One that a person skipped stays skipped, and has no checkpoint here either.
    """
    kept = Step.objects.create(
        run=run,
        key=step.key,
        scope=step.scope,
        ordinal=step.ordinal,
        state=step.state,
        attempt=step.attempt,
        fence=0,
        facts=step.facts,
        facts_digest=step.facts_digest,
        cursor_ordinal=step.cursor_ordinal,
        cursor_token=step.cursor_token,
        started_at=step.started_at,
        ended_at=step.ended_at,
    )
    if kept.state == StepState.SKIPPED:
        return
    run.checkpoint += 1
    _milepost(run, kept, number=run.checkpoint, now=now, finished=True, output=step.facts_digest)
    mine = {"run": step.run_id, "step": step.key, "generation": step.generation}
    planned = PlannedCall.objects.filter(**mine).order_by("id")
    PlannedCall.objects.bulk_create([_own(row, run) for row in planned], batch_size=500)
    Artifact.objects.bulk_create([_own(row, run) for row in Artifact.objects.filter(**mine)])


def _own(row: Row, run: Run) -> Row:
    """The same row, of another run."""
    row.pk, row.run_id, row.generation, row.fence = None, run.pk, 1, 0
    row._state.adding = True
    return row


def _milepost(
    run: Run,
    step: Step,
    *,
    number: int,
    now: datetime,
    output: str,
    finished: bool = False,
    awaiting: str = "",
) -> None:
    Checkpoint.objects.create(
        run=run,
        number=number,
        step=step.key,
        finished=finished,
        cursor_ordinal=step.cursor_ordinal,
        cursor_token=step.cursor_token,
        plan_hash=run.plan_id,
        version=run.version,
        schema=CHECKPOINT_SCHEMA,
        fence=0,
        awaiting=awaiting,
        output_digest=output,
        at=now,
    )
