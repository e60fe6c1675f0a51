"""What a due time begins: a run, one in place of the run before, a place in the queue, or nothing."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from runs.definition.registry import UnknownWorkflow
from runs.ledger import birth, lifecycle, plans, superseding, tenants, transitions
from runs.ledger.plans import PlanChanged
from runs.ledger.schedules import workflow_of
from runs.models import Run, Schedule
from runs.queries import schedules
from runs.queries.schedules import Before
from runs.rules import canonical, inputs
from runs.rules.inputs import InvalidInput
from runs.rules.overlap import Act, Overlap, Standing, decide, decide_all
from runs.rules.plan import BrokenWorkflow, plan_of
from runs.rules.policy import system
from runs.rules.schedules import FiringState
from runs.rules.states import RunState

# The workflow or its input has changed since the schedule was made.
COULD_NOT = (
    UnknownWorkflow,
    BrokenWorkflow,
    InvalidInput,
    canonical.NotCanonical,
    PlanChanged,
    lifecycle.StartKeyTaken,
    tenants.NoSuchTenant,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of a nominal time; `in_vain` when it should have started something."""

    state: FiringState
    reason: str
    run_id: UUID | None = None
    in_vain: bool = True


def begin(schedule: Schedule, nominal: datetime, *, note: str, now: datetime) -> Outcome:
    """As the overlap policy says of how the run before stands; the schedule is locked."""
    overlap = Overlap(schedule.overlap)
    if overlap is Overlap.REPLACE:
        return _begin_alone(schedule, nominal, note=note, now=now)
    before = Before(run=None, standing=Standing.OVER)
    if overlap is not Overlap.CONCURRENT:
        before = schedules.before(schedule.pk)
    decided = decide(
        overlap,
        before.standing,
        named=before.named,
        one_is_queued=schedules.queued_firing(schedule.pk) is not None,
        waits_for=before.waits_for,
    )
    match decided.act:
        case Act.START:
            return start(schedule, nominal, note=note)
        case Act.SKIP:
            return Outcome(state=FiringState.SKIPPED, reason=decided.reason)
    return Outcome(state=FiringState.QUEUED, reason=decided.reason, in_vain=False)


def _begin_alone(schedule: Schedule, nominal: datetime, *, note: str, now: datetime) -> Outcome:
    """In place of every run of the schedule that is open: several may be, after other policies."""
    # Held before they are looked at, in the order of their ids (R18): between the two a worker
    # might take one. What opens only now was not looked at, and is not replaced.
    held = sorted(each.run.pk for each in schedules.open_before(schedule.pk) if each.run)
    for run_id in held:
        transitions.lock(run_id)
    olds = [each for each in schedules.open_before(schedule.pk) if each.run and each.run.pk in held]
    decided = decide_all(
        [
            decide(
                Overlap.REPLACE,
                each.standing,
                named=each.named,
                in_doubt=each.in_doubt,
                waits_for=each.waits_for,
            )
            for each in olds
        ]
    )
    if decided.act is Act.START:
        return start(schedule, nominal, note=note)
    if decided.act is Act.SKIP:
        return Outcome(state=FiringState.SKIPPED, reason=decided.reason)
    return _replace(
        schedule,
        nominal,
        [each.run for each in olds if each.run],
        because=decided.reason,
        now=now,
    )


def start(schedule: Schedule, nominal: datetime, *, note: str) -> Outcome:
    """A run under a start key of its own, in the caller's transaction; refused with the reason."""
    by = system(f"schedule {schedule.slug}")
    try:
        started = lifecycle.start(
            by,
            workflow=schedule.workflow,
            version=schedule.version,
            data=canonical.loads(schedule.input),
            reference=_reference(schedule, nominal),
            labels=_labels(schedule),
            start_key=_start_key(schedule, nominal),
            tenant=schedule.tenant.slug,
        )
    except COULD_NOT as refused:
        return _refused(refused)
    return Outcome(state=FiringState.STARTED, reason=note, run_id=started.id)


def _replace(
    schedule: Schedule, nominal: datetime, olds: Sequence[Run], *, because: str, now: datetime
) -> Outcome:
    """The new run is there at once; it is placed when the last of these is superseded, never earlier.

    It is begun in place of the newest, `olds[0]`; the caller holds them all.
    """
    try:
        heir = _heir(schedule, nominal, olds[0], because=because)
    except COULD_NOT as refused:
        return _refused(refused)
    at_work = [old for old in olds if old.state == RunState.RUNNING]
    besides = [old for old in olds if old.state != RunState.RUNNING]
    waits_for = superseding.until_they_let_go(at_work, besides=besides) if at_work else None
    new, by = birth.born(heir, now=now, waits_for=waits_for), heir.started_by
    for old in olds:
        if old.state == RunState.RUNNING:
            superseding.request(new, old, because=because, by=by, now=now)
        else:
            superseding.take_place(new, old, because=because, by=by, now=now)
    return Outcome(state=FiringState.REPLACED, reason=because, run_id=new.pk)


def _heir(schedule: Schedule, nominal: datetime, old: Run, *, because: str) -> birth.Heir:
    workflow = workflow_of(schedule.workflow, schedule.version)
    text = canonical.dumps(inputs.validated(workflow, canonical.loads(schedule.input)))
    plan = plan_of(workflow)
    plans.keep(plan)
    return birth.Heir(
        old=old,
        plan=plan,
        input=text,
        started_by=f"schedule {schedule.slug}",
        because=because,
        reference=_reference(schedule, nominal),
        labels=_labels(schedule),
        start_key=_start_key(schedule, nominal),
    )


def _refused(why: Exception) -> Outcome:
    return Outcome(state=FiringState.REFUSED, reason=f"it could not be started: {why}")


def _reference(schedule: Schedule, nominal: datetime) -> str:
    return f"{schedule.slug} {nominal:%Y-%m-%d %H:%M:%S}"


def _labels(schedule: Schedule) -> dict[str, str]:
    return {**schedule.labels, "schedule": schedule.slug}


def _start_key(schedule: Schedule, nominal: datetime) -> str:
    return f"schedule:{schedule.pk}:{nominal.isoformat()}"
