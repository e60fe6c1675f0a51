"""The beginning and the end of a run: start, hand back, fail, cancel."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.models import F

from runs import conf
from runs.definition import registry
from runs.definition.workflow import Workflow
from runs.ledger import (
    assignments,
    ending,
    holding,
    plans,
    postgresql,
    sqlite,
    superseding,
    tenants,
    transitions,
)
from runs.ledger.commits import commits
from runs.models import Run, Step, Tenant
from runs.models.run import new_run_id
from runs.queries import starting
from runs.queries.clock import db_now
from runs.queries.first_input import first_input_digest
from runs.queries.lineage import standing_for
from runs.rules import canonical, inputs
from runs.rules.chain import Draft
from runs.rules.claims import NextStep, RunDraft
from runs.rules.fence import Fence
from runs.rules.limits import Breach
from runs.rules.plan import Plan, plan_of
from runs.rules.policy import Actor, Verb, require
from runs.rules.states import FINAL, AssignmentState, RunState, StepState
from runs.rules.versions import code_digests


class StartKeyTaken(Exception):
    """This start key already names a run with another input; choose another key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """`created` is False when the start key answered with the run it had started before."""

    id: UUID
    reference: str
    state: str
    created: bool


@commits("started")
def start(
    actor: Actor,
    *,
    workflow: str,
    data: Mapping[str, Any],
    reference: str | None = None,
    labels: Mapping[str, str] | None = None,
    start_key: str | None = None,
    version: int | None = None,
    tenant: str = tenants.DEFAULT,
) -> Started:
    """Start a run and put it on the list of work.

    Raises UnknownWorkflow, InputRefused, PlanChanged, StartKeyTaken, NoSuchTenant, NotAllowed.
    """
    require(actor, Verb.OPERATE)
    cls = registry.chosen(workflow, version)
    text = canonical.dumps(inputs.validated(cls, dict(data)))
    draft = _draft(
        actor, plan_of(cls), text, tenant, reference, dict(labels or {}), start_key or None
    )
    asks_first = actor.tenants is not None or start_key or connection.vendor == "sqlite"
    # One statement, a transaction by itself; where it knows no such tenant or plan, it writes nothing.
    if not asks_first and _placed(draft):
        return _started(draft)
    found = starting.standing(tenant=tenant, workflow=cls.name, version=cls.version)
    owner = tenants.require_owner(actor, tenant, found.tenant_id, to="start runs")
    with transaction.atomic():
        if start_key and (known := _started_before(owner, cls, start_key, text)):
            return known
        plans.keep_as(plan_of(cls), stored=found.plan_hash)
        if connection.vendor == "sqlite":
            conf.ring(sqlite.start(draft, tenant_id=owner))
        elif not _placed(draft):
            raise tenants.NoSuchTenant(f"The tenant {tenant!r} went away meanwhile. Look again.")
        return _started(draft)


def _placed(draft: RunDraft) -> bool:
    pull = conf.pull()
    assignment = postgresql.start(draft, pull)
    if assignment is not None and pull is None:
        conf.ring(assignment)
    return assignment is not None


def _started(draft: RunDraft) -> Started:
    return Started(id=draft.id, reference=draft.reference, state=RunState.QUEUED, created=True)


def _draft(
    actor: Actor,
    plan: Plan,
    text: str,
    tenant: str,
    reference: str | None,
    labels: dict[str, str],
    start_key: str | None,
) -> RunDraft:
    run_id, first, digest = new_run_id(), plan.steps[0], canonical.digest(text)
    named = (reference or str(run_id)[-12:])[:200]
    begun = {
        "workflow": plan.name,
        "version": plan.version,
        "plan_hash": plan.hash,
        "code": code_digests(plan),
        "input_digest": digest,
        "reference": named,
        "start_key": start_key,
    }
    return RunDraft(
        id=run_id,
        tenant=tenant,
        workflow=plan.name,
        version=plan.version,
        plan_hash=plan.hash,
        reference=named,
        labels=canonical.dumps(labels),
        start_key=start_key,
        input=text,
        input_digest=digest,
        started_by=actor.name,
        step=NextStep(key=first.key, scope=first.scope, ordinal=first.ordinal),
        steps_total=len(plan.steps),
        body=canonical.dumps(begun),
    )


def _started_before(owner: int, cls: type[Workflow], start_key: str, text: str) -> Started | None:
    # The tenant's row first: two starts under one key come one after the other, not to an error.
    Tenant.objects.select_for_update(no_key=True).get(pk=owner)
    run = Run.objects.filter(tenant_id=owner, workflow=cls.name, start_key=start_key).first()
    if run is None:
        return None
    if canonical.digest(text) not in (run.input_digest, first_input_digest(run)):
        raise StartKeyTaken(
            f"Start key {start_key!r} already started run {run.pk} with another input "
            f"(its digest is {run.input_digest[:12]}…, this one's {canonical.digest(text)[:12]}…). "
            "Use another key for another input."
        )
    standing = standing_for(run)
    return Started(
        id=standing.pk, reference=standing.reference, state=standing.state, created=False
    )


@commits("handed_back")
def hand_back(fence: Fence, *, because: str, entered: bool) -> None:
    """Give a run back at a checkpoint, for the next free worker: nothing is lost.

    When the step's body was not `entered`, the next claim counts as the same attempt.
    """
    with transaction.atomic():
        run, now = transitions.hold(fence), db_now()
        if run.cancel_requested or run.pause_requested:
            stop_held(run, fence, now=now)
            return
        _give_back(run, fence, because=because, entered=entered, now=now)


def _give_back(run: Run, fence: Fence, *, because: str, entered: bool, now: datetime) -> None:
    assignments.close(run.pk, to=AssignmentState.RELEASED, outcome=because, now=now)
    Step.objects.filter(run=run, key=run.step, superseded=False, state="running").update(
        state=StepState.PENDING.value,
        attempt=F("attempt") - int(not entered),
        fence=fence.number,
    )
    event = Draft(kind="run.handed_back", body=canonical.dumps({"because": because}))
    transitions.move(
        run,
        to=RunState.QUEUED,
        events=[event],
        now=now,
        actor=str(fence.worker_id),
        fence=fence.number,
    )
    assignments.place(run, reason=because, now=now)


@commits("failed")
def fail(fence: Fence, *, reason: str, error_class: str, breach: Breach | None = None) -> None:
    """The run stops with its reason; it stays open to resume, replay and restart."""
    with transaction.atomic():
        run, now = transitions.hold(fence), db_now()
        fail_held(run, fence, reason=reason, error_class=error_class, breach=breach, now=now)


def fail_held(
    run: Run,
    fence: Fence,
    *,
    reason: str,
    error_class: str,
    now: datetime,
    breach: Breach | None = None,
) -> None:
    """The same on a run that the caller holds, inside the caller's transaction."""
    if run.cancel_requested:
        stop_held(run, fence, now=now)
        return
    Step.objects.filter(run=run, key=run.step, superseded=False).exclude(
        state=StepState.SUCCEEDED.value
    ).update(
        state=StepState.FAILED.value,
        error_class=error_class,
        error=reason,
        ended_at=now,
        fence=fence.number,
    )
    body = canonical.dumps({"reason": reason, "error_class": error_class})
    assignments.close(run.pk, to=AssignmentState.RELEASED, outcome="failed", now=now)
    transitions.move(
        run,
        to=RunState.FAILED,
        events=[
            *([breach.event(step=run.step, then=RunState.FAILED.value)] if breach else []),
            Draft(kind="step.failed", step=run.step, body=body),
            Draft(kind="run.failed", step=run.step, body=body),
            line(run, state=RunState.FAILED, reason=reason, in_flight=run.step),
        ],
        now=now,
        actor=str(fence.worker_id),
        fence=fence.number,
        reason=reason,
        pause_requested=False,
        paused_with=None,
    )


@commits("released")
def stop_as_requested(fence: Fence) -> None:
    """The fence's holder makes the move that was requested while it worked (R17)."""
    with transaction.atomic():
        stop_held(transitions.hold(fence), fence, now=db_now())


def stop_held(run: Run, fence: Fence, *, now: datetime) -> None:
    """The same on a run that the caller holds, inside the caller's transaction."""
    if not (run.cancel_requested or run.pause_requested):
        # It was taken back after the holder had read it, and before the holder came here.
        _give_back(run, fence, because="the pause was taken back", entered=True, now=now)
        return
    assignments.close(run.pk, to=AssignmentState.RELEASED, outcome="stopped", now=now)
    actor = str(fence.worker_id)
    if run.supersede_requested and superseding.stop(run, actor=actor, now=now, fence=fence.number):
        return
    if run.cancel_requested:
        end_cancelled(run, because=run.reason, actor=actor, now=now, fence=fence.number)
        return
    # What has begun and is left goes on from its checkpoint when the run is resumed.
    Step.objects.filter(run=run, key=run.step, superseded=False, state="running").update(
        state=StepState.PENDING.value, fence=fence.number
    )
    end_paused(run, because=run.reason, actor=actor, now=now, fence=fence.number)


@commits("cancel_committed")
def cancel(actor: Actor, run_id: UUID, *, because: str, seen: str | None = None) -> str:
    """Cancel a run, at once or, while a worker holds it, at its next checkpoint (R17).

    Returns the state the run is in now. Raises NotAllowed, NoSuchRun, RunChanged, and
    MoveRefused when it is already final.
    """
    with transaction.atomic():
        run, now = holding.visible_as_seen(actor, run_id, seen=seen), db_now()
        if RunState(run.state) in FINAL:
            raise transitions.MoveRefused(run.pk, state=run.state, to=RunState.CANCELLED)
        if run.state != RunState.RUNNING:
            assignments.close(run.pk, to=AssignmentState.RELEASED, outcome="cancelled", now=now)
            end_cancelled(run, because=because, actor=actor.name, now=now)
        elif run.supersede_requested or not run.cancel_requested:
            # A run that is cancelled makes no room: the one that stands ready is called off.
            event = Draft(kind="run.cancel_requested", body=canonical.dumps({"because": because}))
            transitions.note(
                run,
                events=[event],
                now=now,
                actor=actor.name,
                cancel_requested=True,
                supersede_requested=False,
                reason=because,
            )
        return run.state


def end_cancelled(run: Run, *, because: str, actor: str, now: datetime, fence: int = 0) -> None:
    """Close a locked run that nobody holds any more: its waits, its decisions, itself."""
    ending.end(run, to=RunState.CANCELLED, because=because, actor=actor, now=now, fence=fence)


def end_paused(
    run: Run,
    *,
    because: str,
    actor: str,
    now: datetime,
    fence: int = 0,
    paused_with: UUID | None = None,
) -> None:
    """A locked run that nobody holds stands still; an open wait of it stays open, its clock stands."""
    others = paused_with or run.paused_with
    body = {"because": because, **({"with": str(others)} if others else {})}
    transitions.move(
        run,
        to=RunState.PAUSED,
        events=[
            Draft(kind="run.paused", step=run.step, body=canonical.dumps(body)),
            line(run, state=RunState.PAUSED, reason=because, in_flight=run.step),
        ],
        now=now,
        actor=actor,
        fence=fence,
        reason=because,
        pause_requested=False,
        paused_at=now,
        paused_with=others,
    )


def end_failed(run: Run, *, because: str, actor: str, now: datetime) -> None:
    """A locked run that nobody holds fails with this reason, open to resume and restart."""
    Step.objects.filter(run=run, key=run.step, superseded=False).update(
        state=StepState.FAILED.value, error=because, ended_at=now, fence=run.fence
    )
    transitions.move(
        run,
        to=RunState.FAILED,
        events=[
            Draft(kind="run.failed", step=run.step, body=canonical.dumps({"reason": because})),
            line(run, state=RunState.FAILED, reason=because, in_flight=run.step),
        ],
        now=now,
        actor=actor,
        reason=because,
        pause_requested=False,
        paused_at=None,
        paused_with=None,
    )


def line(run: Run, *, state: RunState, reason: str, in_flight: str = "") -> Draft:
    """The audit line as an event."""
    return ending.line(run, state=state, reason=reason, in_flight=in_flight)
