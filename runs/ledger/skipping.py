"""A person passes over a step that its plan says the run is right without."""

from datetime import datetime

from runs.ledger import transitions
from runs.models import Run, Step
from runs.queries.in_doubt import is_in_doubt
from runs.queries.plans import plan_by_hash
from runs.rules import canonical
from runs.rules.chain import Draft
from runs.rules.states import StepState
from runs.rules.verbs import NotNow


def skip(run: Run, *, by: str, because: str, now: datetime) -> None:
    """Leave the step that a locked run stands at undone, and stand at the next one.

    Raises NotNow where the plan does not allow it, or a call of the step is in doubt (I6).
    """
    plan = plan_by_hash(run.plan_id)
    planned = plan.step(run.step)
    following = plan.steps[planned.ordinal : planned.ordinal + 1]
    if not (planned.may_skip and following):
        raise NotNow(f"Step {run.step} of run {run.reference} may not be skipped.")
    if is_in_doubt(run.pk, scope=planned.scope):
        raise NotNow(f"Nobody knows whether a call of step {run.step} happened. Settle that first.")
    step = Step.objects.get(run=run, key=run.step, superseded=False)
    step.state, step.ended_at, step.fence = StepState.SKIPPED.value, now, run.fence
    step.save(update_fields=["state", "ended_at", "fence"])
    coming = following[0]
    Step.objects.create(
        run=run,
        key=coming.key,
        scope=coming.scope,
        ordinal=coming.ordinal,
        generation=step.generation,
        fence=run.fence,
    )
    body = canonical.dumps({"because": because, "next": coming.key})
    skipped = Draft(kind="step.skipped", step=step.key, body=body)
    transitions.note(
        run, events=[skipped], now=now, actor=by, step=coming.key, step_ordinal=coming.ordinal
    )
    run.step, run.step_ordinal = coming.key, coming.ordinal
