"""Small facts about a running step that no checkpoint has to wait for."""

from datetime import timedelta

from django.db import transaction

from runs.ledger import transitions
from runs.ledger.commits import commits
from runs.models import Step
from runs.queries.clock import db_now
from runs.rules import canonical
from runs.rules.chain import Draft
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


@commits("extension_committed")
def note_extension(fence: Fence, *, step: str, by: timedelta) -> None:
    """The run says itself how long it may go on from now; nobody is called for it before that."""
    with transaction.atomic():
        run, now = transitions.hold(fence), db_now()
        told = {"seconds": by.total_seconds(), "until": (now + by).isoformat()}
        extended = Draft(kind="run.extended", step=step, body=canonical.dumps(told))
        transitions.note(
            run, events=[extended], now=now, actor=str(fence.worker_id), fence=fence.number
        )
