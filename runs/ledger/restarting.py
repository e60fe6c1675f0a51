"""A run is begun anew under a new id with fresh keys; the old one is superseded and frozen."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import transaction

from runs.definition import registry
from runs.definition.workflow import Workflow
from runs.ledger import assignments, birth, holding, lifecycle, plans, superseding, transitions
from runs.ledger.commits import commits
from runs.models import Call, Run, Step, Wait
from runs.queries.clock import db_now
from runs.queries.lineage import waiting_restart
from runs.queries.preview import why_no_restart_of
from runs.queries.starting_points import whole_steps_before
from runs.rules import canonical, inputs
from runs.rules.fence import Fence
from runs.rules.plan import plan_of
from runs.rules.policy import Actor
from runs.rules.postures import NotReplayable, NotRestartable
from runs.rules.states import AssignmentState, RunState, StepState, WaitState
from runs.rules.written import WaitDraft


@dataclass(frozen=True, slots=True, kw_only=True)
class Restarted:
    """The new run, and how both stand; `asks` when a person decides before anything begins."""

    id: UUID
    state: str
    old_state: str
    asks: bool


@commits("restart_placed")
def restart(
    actor: Actor,
    run_id: UUID,
    *,
    because: str,
    checkpoint: int | None = None,
    abandon: Collection[str] = (),
    seen: str | None = None,
) -> Restarted:
    """Begin a new run in place of this one; with `checkpoint`, what is before it is copied as kept.

    `abandon` are keys of calls of which nobody will ever know whether they happened (R5).
    Raises NotAllowed, NoSuchRun, NotRestartable, RunChanged, and what `lifecycle.start` raises
    of its workflow.
    """
    with transaction.atomic():
        old, now = holding.visible_as_seen(actor, run_id, seen=seen), db_now()
        keys = sorted(set(abandon))
        if refusal := why_no_restart_of(old, checkpoint=checkpoint, abandon=keys):
            raise NotRestartable(refusal)
        heir = _heir(actor, old, because=because, checkpoint=checkpoint)
        ask = superseding.question(old, checkpoint=checkpoint, because=because, abandon=keys)
        new = birth.born(heir, now=now, waits_for=ask or _its_worker(old))
        if ask is not None:
            _stand_still(old, new, by=actor.name, now=now)
        elif old.state == RunState.RUNNING:
            superseding.request(new, old, because=because, by=actor.name, now=now)
        else:
            superseding.take_place(new, old, because=because, by=actor.name, now=now, abandon=keys)
    return Restarted(id=new.pk, state=new.state, old_state=old.state, asks=ask is not None)


def _its_worker(old: Run) -> WaitDraft | None:
    return superseding.until_it_lets_go(old) if old.state == RunState.RUNNING else None


def _stand_still(old: Run, new: Run, *, by: str, now: datetime) -> None:
    """Whoever chose this as the answer to a decision has left the old run nothing to wait for."""
    parked = Wait.objects.filter(run=old, state=WaitState.OPEN.value).exists()
    if old.state == RunState.WAITING and not parked:
        because = f"A person decides whether run {new.pk} takes its place."
        lifecycle.end_paused(old, because=because, actor=by, now=now)


def _heir(actor: Actor, old: Run, *, because: str, checkpoint: int | None) -> birth.Heir:
    if not checkpoint:
        cls = registry.latest(old.workflow)
        text = canonical.dumps(inputs.validated(cls, canonical.loads(old.input)))
        return _of(cls, old, text, by=actor.name, because=because)
    cls = registry.get(old.workflow, old.version)
    if plan_of(cls).hash != old.plan_id:
        raise NotRestartable(
            "Its plan is not the one that this version has here, so nothing of it can be kept. "
            "Restart it from the start."
        )
    try:
        given = whole_steps_before(old, checkpoint)
    except NotReplayable as refused:
        raise NotRestartable(str(refused)) from None
    heir = _of(cls, old, old.input, by=actor.name, because=because)
    return birth.Heir(
        old=heir.old,
        plan=heir.plan,
        input=heir.input,
        started_by=heir.started_by,
        because=because,
        given=given,
        begins_behind=checkpoint,
    )


def _of(cls: type[Workflow], old: Run, text: str, *, by: str, because: str) -> birth.Heir:
    plan = plan_of(cls)
    plans.keep(plan)
    return birth.Heir(old=old, plan=plan, input=text, started_by=by, because=because)


@commits("restart_placed", when=bool)
def restart_by_itself(fence: Fence, *, allowed: int, error_class: str, error: str) -> UUID | None:
    """What its plan declares when retries are used up; None when a person has to be asked (R5).

    Only if no call was ever intended, not more often in a row than declared, and not where
    another run stands ready to take its place.
    """
    with transaction.atomic():
        old, now = transitions.hold(fence), db_now()
        stops = old.cancel_requested or old.pause_requested or waiting_restart(old.pk)
        if stops or old.automatic_restarts >= allowed or Call.objects.filter(run=old).exists():
            return None
        Step.objects.filter(run=old, key=old.step, superseded=False).update(
            state=StepState.FAILED.value,
            error_class=error_class,
            error=error,
            ended_at=now,
            fence=fence.number,
        )
        assignments.close(old.pk, to=AssignmentState.RELEASED, outcome="restarted", now=now)
        by, because = str(fence.worker_id), f"its retries are used up: {error}"
        heir = birth.Heir(
            old=old,
            plan=plan_of(registry.get(old.workflow, old.version)),
            input=old.input,
            started_by=old.started_by,
            because=because,
            automatic_restarts=old.automatic_restarts + 1,
        )
        new = birth.born(heir, now=now)
        superseding.take_place(new, old, because=because, by=by, now=now, fence=fence.number)
    return new.pk
