"""How long runs stood still after a worker's death is kept for real runs, in their own rows."""

from datetime import timedelta

import pytest

from runs.ledger import lifecycle, takeover, workers
from runs.models import Assignment, Worker
from runs.queries.clock import db_now
from runs.queries.recovery import Figures, figures, recoveries
from tests.durability.fences import Held, a_held_run, a_worker_row, claimed_by
from tests.support import runs

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("_bodies")]


def lost(held: Held, *, because: str = "its process is gone") -> None:
    assert workers.declare_lost(held.fence.worker_id, because=because, only_if_expired=False)
    assert takeover.take_over(held.fence.worker_id, because=because) == [held.run_id]


def test_a_recovery_lasts_from_the_death_to_the_next_claim() -> None:
    held = a_held_run("lines_thrice", lines="/dev/null")
    lost(held)
    Worker.objects.filter(pk=held.fence.worker_id).update(ended_at=db_now() - timedelta(seconds=4))
    assert recoveries() == []

    claimed_by(a_worker_row(), held.run_id)

    (found,) = recoveries(run_ids=[held.run_id])
    ended_at = Worker.objects.get(pk=held.fence.worker_id).ended_at
    claimed_at = Assignment.objects.get(run_id=held.run_id, state="claimed").claimed_at
    assert ended_at is not None
    assert claimed_at is not None
    assert found.seconds == pytest.approx((claimed_at - ended_at).total_seconds(), abs=0.001)
    assert found.seconds >= 4
    assert found.because == "its process is gone"
    assert figures([found]) == Figures(count=1, median=found.seconds, maximum=found.seconds)


def test_a_worker_that_only_its_lease_gave_away_counts_from_its_last_sign_of_life() -> None:
    held = a_held_run("lines_thrice", lines="/dev/null")
    long_ago = db_now() - timedelta(seconds=15)
    Worker.objects.filter(pk=held.fence.worker_id).update(renewed_at=long_ago)
    lost(held, because="its lease is over")

    claimed_by(a_worker_row(), held.run_id)

    (found,) = recoveries()
    assert found.seconds >= 15


def test_what_a_person_let_go_on_is_no_recovery() -> None:
    """A run that was handed back, or cancelled after its takeover, says nothing of it."""
    held = a_held_run("lines_thrice", lines="/dev/null")
    lifecycle.hand_back(held.fence, because="the worker is shutting down", entered=True)
    claimed_by(a_worker_row(), held.run_id)
    gone = a_held_run("lines_thrice", lines="/dev/null")
    lost(gone)
    lifecycle.cancel(runs.the_operator(), gone.run_id, because="tests")

    assert Assignment.objects.filter(state="lost").count() == 1
    assert recoveries() == []
    assert figures([]) == Figures(count=0, median=None, maximum=None)
