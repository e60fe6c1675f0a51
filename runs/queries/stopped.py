"""Where a run stands still: its step, what that has called, and what could be done about it."""

from uuid import UUID

from runs.models import Call, Checkpoint, Run, Step
from runs.queries.foretold import ways_on
from runs.queries.plans import plan_by_hash
from runs.rules.states import UNSETTLED_CALLS, StepState
from runs.rules.surfacing import Stopped

MOST_POINTS = 20


def stopped_at(run_id: UUID) -> Stopped:
    """The facts that the options of a person are computed from."""
    run = Run.objects.get(pk=run_id)
    plan = plan_by_hash(run.plan_id)
    planned = plan.step(run.step)
    rows = {step.key: step for step in Step.objects.filter(run=run, superseded=False)}
    step = rows[run.step]
    names, points = {field.name for field in plan.input_fields}, _points(run)
    return Stopped(
        step=run.step,
        attempt=step.attempt,
        checkpoint=run.checkpoint,
        cursor=step.cursor_ordinal,
        finished=[key for key, row in rows.items() if row.state == StepState.SUCCEEDED],
        later=[each.key for each in plan.steps if each.ordinal > planned.ordinal],
        calls=_calls(run, scope=planned.scope),
        fields=plan.input_fields,
        read_before=[
            each.key
            for each in plan.steps
            if each.ordinal < planned.ordinal and names & set(each.reads)
        ],
        may_restart=True,
        may_skip=planned.may_skip,
        points=points,
        foretold=ways_on(run, plan, step, points=[0, *points]),
    )


def _calls(run: Run, *, scope: str) -> list[dict[str, object]]:
    unsettled = [state.value for state in UNSETTLED_CALLS]
    rows = Call.objects.filter(run=run, scope=scope).order_by("id")
    return [
        {**call, "in_doubt": call["state"] in unsettled and not call["unsent"]}
        for call in rows.values("key", "effect", "resource", "state", "unsent")
    ]


def _points(run: Run) -> list[int]:
    """The ends of its finished steps; a page in the midst of one is found on the run's page."""
    current = Step.objects.filter(run=run, superseded=False, state=StepState.SUCCEEDED.value)
    ends = Checkpoint.objects.filter(run=run, finished=True, step__in=current.values("key"))
    numbers = ends.order_by("-number").values_list("number", flat=True)[:MOST_POINTS]
    return sorted(numbers)
