"""From which checkpoints a run may be begun again: whole steps, and pages where that is sound."""

from collections.abc import Sequence

from runs.models import Checkpoint, PlannedCall, Run, Step, Wait
from runs.queries.lineage import is_unborn
from runs.queries.plans import plan_by_hash
from runs.rules.plan import Plan
from runs.rules.postures import NotReplayable, Point, why_no_replay
from runs.rules.states import RunState, StepState, WaitKind


def refusal_of(run: Run, *, checkpoint: int) -> str:
    """Why this run cannot be replayed from there now; empty when it can."""
    begun = not is_unborn(run)
    if refusal := why_no_replay(RunState(run.state), checkpoint=checkpoint, begun=begun):
        return refusal
    try:
        point_of(run, checkpoint)
    except NotReplayable as refused:
        return str(refused)
    return ""


def point_of(run: Run, number: int) -> Point:
    """The place behind this checkpoint; raises NotReplayable with the reason where there is none."""
    plan = plan_by_hash(run.plan_id)
    if number == 0:
        return Point(number=0, first=1, step=plan.steps[0].key)
    found = Checkpoint.objects.filter(run=run, number=number).first()
    if found is None:
        raise NotReplayable(
            f"This run has no checkpoint {number}; its last one is {run.checkpoint}."
        )
    step = Step.objects.filter(run=run, key=found.step, generation=found.generation).first()
    if step is None or step.superseded:
        raise NotReplayable(
            f"Checkpoint {number} belongs to generation {found.generation} of step {found.step}, "
            "which a replay has superseded. Choose one of a step that stands."
        )
    return _point(run, plan, found, step)


def _point(run: Run, plan: Plan, found: Checkpoint, step: Step) -> Point:
    if found.finished:
        if step.ordinal >= len(plan.steps):
            raise NotReplayable(f"Behind checkpoint {found.number} there is no step left to redo.")
        following = plan.steps[step.ordinal]
        return Point(number=found.number, first=following.ordinal, step=following.key)
    if found.awaiting:
        raise NotReplayable(
            f"At checkpoint {found.number} step {step.key} was parked ({found.awaiting}); a body "
            "cannot be entered in its middle. Choose the one before the step, or a page of it."
        )
    if because := why_pages_are_unsound(run, step):
        raise NotReplayable(because)
    return Point(
        number=found.number,
        first=step.ordinal,
        step=step.key,
        cursor_ordinal=found.cursor_ordinal,
        cursor_token=found.cursor_token,
    )


def why_pages_are_unsound(run: Run, step: Step) -> str:
    """A page's cursor is a place to begin at only when nothing else of the pages before it counts."""
    mine = {"run": run, "step": step.key, "generation": step.generation}
    if PlannedCall.objects.filter(**mine).exists():
        return (
            f"Step {step.key} plans calls page by page; its plan cannot be cut at a page. "
            "Choose the checkpoint before the step."
        )
    if Wait.objects.filter(**mine).exclude(kind=WaitKind.RETRY.value).exists():
        return (
            f"Step {step.key} has waited for answers, which a new generation asks for again; "
            "its pages cannot be kept without them. Choose the checkpoint before the step."
        )
    return ""


def whole_steps_before(run: Run, number: int) -> Sequence[Step]:
    """The steps that are over up to this whole-step checkpoint, skipped ones too, in the plan's order."""
    point = point_of(run, number)
    if point.is_page:
        raise NotReplayable(
            f"Checkpoint {number} is a page of step {point.step}. A new run begins behind whole "
            "steps only."
        )
    over = [StepState.SUCCEEDED.value, StepState.SKIPPED.value]
    rows = Step.objects.filter(run=run, superseded=False, state__in=over, ordinal__lt=point.first)
    return list(rows.order_by("ordinal"))


def points_of(run: Run) -> list[Point]:
    """The beginning, and every whole step that stands and has one behind it."""
    plan = plan_by_hash(run.plan_id)
    finished = Checkpoint.objects.filter(run=run, finished=True).order_by("number")
    standing = {
        (step.key, step.generation): step for step in Step.objects.filter(run=run, superseded=False)
    }
    found = [Point(number=0, first=1, step=plan.steps[0].key)]
    for row in finished.only("number", "step", "generation"):
        step = standing.get((row.step, row.generation))
        if step is not None and step.ordinal < len(plan.steps):
            following = plan.steps[step.ordinal]
            found.append(Point(number=row.number, first=following.ordinal, step=following.key))
    return found
