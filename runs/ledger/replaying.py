"""A run is redone from an earlier checkpoint: same id, same keys, a new generation of its steps."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction

from runs.definition import gates
from runs.ledger import assignments, holding, posting, transitions
from runs.ledger.commits import commits
from runs.models import Call, Replay, Run, Step, Wait
from runs.queries.clock import db_now
from runs.queries.plans import plan_by_hash
from runs.queries.starting_points import point_of, refusal_of
from runs.rules import canonical
from runs.rules.chain import Draft
from runs.rules.plan import PlanStep
from runs.rules.policy import Actor
from runs.rules.postures import NotReplayable, Point
from runs.rules.states import AssignmentState, RunState, StepState, WaitState


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """What became of the run: the generation that counts now, and where it begins."""

    id: UUID
    state: str
    generation: int
    step: str


@commits("replay_placed")
def replay(
    actor: Actor,
    run_id: UUID,
    *,
    checkpoint: int,
    because: str,
    forget_judgements: bool = False,
    seen: str | None = None,
) -> Replayed:
    """Begin the steps behind `checkpoint` again as a new generation; 0 is the beginning.

    `seen` is what `seen_as` said of the run when the actor looked.

    Raises NotAllowed, NoSuchRun, NotReplayable, RunChanged.
    """
    with transaction.atomic():
        run, now = holding.visible_as_seen(actor, run_id, seen=seen), db_now()
        if refusal := refusal_of(run, checkpoint=checkpoint):
            raise NotReplayable(refusal)
        point = point_of(run, checkpoint)
        _withdraw(run, by=actor.name, because=because, now=now)
        superseded = _supersede(run, point, now=now)
        _begin(run, point, actor, because=because, forgets=forget_judgements, now=now)
        body = {
            "because": because,
            "checkpoint": checkpoint,
            "step": point.step,
            "cursor": point.cursor_ordinal,
            "generation": run.generation,
            "superseded": superseded,
            "judgements": "forgotten" if forget_judgements else "kept",
        }
        _place(
            run,
            point,
            Draft(kind="run.replayed", step=point.step, body=canonical.dumps(body)),
            by=actor.name,
            now=now,
        )
    return Replayed(id=run.pk, state=run.state, generation=run.generation, step=point.step)


def _withdraw(run: Run, *, by: str, because: str, now: datetime) -> None:
    """What the old generation waits for is waited for no more (R3)."""
    withdrawn = Wait.objects.filter(run=run, state=WaitState.OPEN.value).update(
        state=WaitState.WITHDRAWN.value, closed_at=now, closed_by=by, fence=run.fence
    )
    if withdrawn:
        for kind in gates.registered():
            gates.gate_for(kind).supersede(run.pk, because)
    assignments.close(run.pk, to=AssignmentState.RELEASED, outcome="replayed", now=now)
    posting.take_back(run, because="its step was replayed before it left", now=now)


def _supersede(run: Run, point: Point, *, now: datetime) -> list[dict[str, Any]]:
    """The rows of the steps to be redone stay, and count no more; which ones they were."""
    rows = Step.objects.filter(run=run, superseded=False, ordinal__gte=point.first)
    named = [
        {"key": key, "generation": generation, "state": state}
        for key, generation, state in rows.order_by("ordinal").values_list(
            "key", "generation", "state"
        )
    ]
    done = (StepState.SUCCEEDED.value, StepState.FAILED.value)
    rows.exclude(state__in=done).update(
        superseded=True, state=StepState.SKIPPED.value, ended_at=now, fence=run.fence
    )
    rows.filter(state__in=done).update(superseded=True, fence=run.fence)
    return named


def _begin(
    run: Run, point: Point, actor: Actor, *, because: str, forgets: bool, now: datetime
) -> None:
    """The record first, then the run's generation, then the first step of it (I1)."""
    planned = plan_by_hash(run.plan_id).step(point.step)
    run.generation += 1
    Replay.objects.create(
        tenant_id=run.tenant_id,
        run=run,
        generation=run.generation,
        checkpoint=point.number,
        step=point.step,
        ordinal=point.first,
        cursor_ordinal=point.cursor_ordinal,
        forgets_judgements=forgets,
        by=actor.name,
        because=because,
        at=now,
    )
    Run.objects.filter(pk=run.pk).update(generation=run.generation)
    Step.objects.create(
        run=run,
        key=planned.key,
        scope=planned.scope,
        ordinal=planned.ordinal,
        generation=run.generation,
        fence=run.fence,
        cursor_ordinal=point.cursor_ordinal,
        cursor_token=point.cursor_token,
    )
    if point.is_page:
        _keep_calls_of_pages(run, planned, point)


def _keep_calls_of_pages(run: Run, planned: PlanStep, point: Point) -> None:
    """Calls that the kept pages made are named by nobody again, and stand all the same (R2)."""
    Call.objects.filter(run=run, scope=planned.scope, checkpoint__lte=point.number).update(
        generation=run.generation, fence=run.fence
    )


def _place(run: Run, point: Point, event: Draft, *, by: str, now: datetime) -> None:
    run.step = point.step
    fields: dict[str, Any] = {
        "generation": run.generation,
        "step": point.step,
        "step_ordinal": point.first,
        "reason": "",
        "pause_requested": False,
        "paused_at": None,
        "paused_with": None,
    }
    if run.state == RunState.QUEUED:
        transitions.note(run, events=[event], now=now, actor=by, **fields)
    else:
        transitions.move(run, to=RunState.QUEUED, events=[event], now=now, actor=by, **fields)
    behind = f"checkpoint {point.number}" if point.number else "the start"
    assignments.place(run, reason=f"replayed by {by} from {behind}"[:300], now=now)
