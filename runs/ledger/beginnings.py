"""What a due time begins: a run, one in place of the run before, a place in the queue, or nothing."""

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
from runs.rules.overlap import Act, Overlap, Standing, decide
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
    before = Before(run=None, standing=Standing.OVER)
    if overlap is not Overlap.CONCURRENT:
        before = schedules.before(schedule.pk)
    if overlap is Overlap.REPLACE and before.run is not None:
        # Held before it is looked at: between the two a worker might take it.
        transitions.lock(before.run.pk)
        before = schedules.before(schedule.pk)
    decided = decide(
        overlap,
        before.standing,
        named=before.named,
        one_is_queued=schedules.queued_firing(schedule.pk) is not None,
        in_doubt=before.in_doubt,
        waits_for=before.waits_for,
    )
    match decided.act:
        case Act.START:
            return start(schedule, nominal, note=note)
        case Act.SKIP:
            return Outcome(state=FiringState.SKIPPED, reason=decided.reason)
        case Act.QUEUE:
            return Outcome(state=FiringState.QUEUED, reason=decided.reason, in_vain=False)
    return _replace(schedule, nominal, before, because=decided.reason, now=now)


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
    schedule: Schedule, nominal: datetime, before: Before, *, because: str, now: datetime
) -> Outcome:
    """The new run is there at once; it is placed when the old one is superseded, never earlier."""
    if before.run is None:
        return start(schedule, nominal, note="")
    try:
        heir = _heir(schedule, nominal, before.run, because=because)
    except COULD_NOT as refused:
        return _refused(refused)
    old, by = transitions.lock(before.run.pk), heir.started_by
    if old.state == RunState.RUNNING:
        new = birth.born(heir, now=now, waits_for=superseding.until_it_lets_go(old))
        superseding.request(new, old, because=because, by=by, now=now)
    else:
        new = birth.born(heir, now=now)
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
