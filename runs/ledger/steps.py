"""Small facts about a running step that no checkpoint has to wait for."""

from django.db import transaction

from runs.ledger import transitions
from runs.ledger.commits import commits
from runs.models import Step
from runs.rules.fence import Fence
from runs.rules.written import StepPlace


@commits("progress_committed")
def note_progress(fence: Fence, place: StepPlace, *, done: int, total: int | None) -> None:
    """How far the step says it has come; raises FenceLost when another worker has it.

    The run's row is held first: the guard on steps reads it, and takeover locks in that order (R18).
    """
    with transaction.atomic():
        transitions.hold(fence)
        Step.objects.filter(run_id=fence.run_id, key=place.key, generation=place.generation).update(
            progress_done=done, progress_total=total, fence=fence.number
        )
