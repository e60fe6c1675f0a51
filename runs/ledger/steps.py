"""Small facts about a running step that no checkpoint has to wait for."""

from runs.models import Step
from runs.rules.fence import Fence, FenceLost
from runs.rules.states import StepState
from runs.rules.written import StepPlace


def note_progress(fence: Fence, place: StepPlace, *, done: int, total: int | None) -> None:
    """How far the step says it has come; raises FenceLost when another worker has it.

    The step's fence is the run's newest unless the run was taken over, and the guard on steps
    compares the two, so one statement is enough.
    """
    noted = Step.objects.filter(
        run_id=fence.run_id,
        key=place.key,
        generation=place.generation,
        fence=fence.number,
        state=StepState.RUNNING.value,
    ).update(progress_done=done, progress_total=total)
    if not noted:
        raise FenceLost(fence)
