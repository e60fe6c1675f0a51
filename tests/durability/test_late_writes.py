"""A worker that was replaced while it worked: what it still writes is refused, told of, and its process ends."""

import time
from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID

import pytest

from runs.definition import Workflow, registry, step
from runs.engine.worker import Worker
from runs.ledger import takeover, workers
from runs.models import Assignment, AuditEvent, Run, Step
from runs.queries.verify import violations
from runs.rules import canonical
from tests.support import runs

pytestmark = pytest.mark.django_db(transaction=True)

MEANWHILE: list[Callable[[UUID], None]] = []


@pytest.fixture(autouse=True)
def _workflows() -> Iterator[None]:
    MEANWHILE.clear()
    with registry.isolated():
        yield


def a_run_during_which(happens: Callable[[UUID], None]) -> UUID:
    """At the first entry of its body that happens; what it writes shows who wrote it."""

    class Slow(Workflow):
        name, version = "slow", 1

        @step(writes=["by"])
        def work(self, run: Any) -> None:
            attempt = run.attempt
            if MEANWHILE:
                MEANWHILE.pop()(run.id)
            run.write("by", attempt)

    MEANWHILE.append(happens)
    return runs.a_run(Slow)


def replaced(run_id: UUID) -> None:
    """Its worker's lease ran out while it stood still, and watch placed the run again."""
    worker_id = Run.objects.get(pk=run_id).worker_id
    assert worker_id is not None
    assert workers.declare_lost(worker_id, because="its lease is over", only_if_expired=False)
    assert takeover.take_over(worker_id, because="its lease is over") == [run_id]


def replaced_and_finished(run_id: UUID) -> None:
    replaced(run_id)
    runs.drain()
    assert runs.state_of(run_id) == "succeeded"


def work_as_a_zombie() -> list[str]:
    """Drain as a worker that does not hear of its loss from its keeper; how it ended."""
    ended: list[str] = []
    zombie = Worker(on_lost=lambda: ended.append("killed"))
    zombie.enlist()
    zombie.keeper.stop()
    zombie.drain_placed(until=time.monotonic() + 30, stop=lambda: bool(ended))
    return ended


def test_a_late_write_is_told_of_in_the_chain_of_a_run_that_goes_on() -> None:
    """R25, R37"""
    run_id = a_run_during_which(replaced)

    assert work_as_a_zombie() == ["killed"]

    told = AuditEvent.objects.get(kind="write.rejected")
    assert told.run_id == run_id
    body = canonical.loads(told.body)
    assert body["newest"] > body["fence"] == told.fence
    assert Step.objects.get(run_id=run_id).state == "pending"
    runs.drain()
    assert runs.facts_of(run_id) == {"by": 2}
    assert violations() == []


def test_a_late_write_after_the_end_is_told_of_in_the_tenants_chain() -> None:
    """R25, R37: a final run takes not even this event."""
    run_id = a_run_during_which(replaced_and_finished)

    assert work_as_a_zombie() == ["killed"]

    told = AuditEvent.objects.get(kind="write.rejected")
    assert told.run_id is None
    assert canonical.loads(told.body)["run"] == str(run_id)
    assert runs.facts_of(run_id) == {"by": 2}
    assert violations() == []


def test_of_two_takers_at_once_one_wins() -> None:
    """R21: the loser finds nothing that is still the lost worker's; a renewed lease is not over."""
    run_id = a_run_during_which(lambda _: None)
    with runs.a_worker() as worker:
        from runs.ledger import assignments

        assert assignments.claim(worker_id=worker.id, plans=worker.plans)
        assert not workers.declare_lost(worker.id, because="tests", only_if_expired=True)
        assert workers.declare_lost(worker.id, because="tests", only_if_expired=False)
        assert not workers.declare_lost(worker.id, because="tests", only_if_expired=False)

        first = takeover.take_over(worker.id, because="tests")
        second = takeover.take_over(worker.id, because="tests")

    assert (first, second) == ([run_id], [])
    assert Assignment.objects.filter(run_id=run_id, state="placed").count() == 1
    assert AuditEvent.objects.filter(run_id=run_id, kind="run.taken_over").count() == 1


def test_a_worker_whose_run_was_taken_but_who_was_not_given_up_works_on() -> None:
    """A run that was superseded or restarted under its feet is no reason to end a good worker."""

    def taken(run_id: UUID) -> None:
        worker_id = Run.objects.get(pk=run_id).worker_id
        assert worker_id is not None
        takeover.take_over(worker_id, because="tests", crashed=False)

    run_id = a_run_during_which(taken)

    assert work_as_a_zombie() == []

    assert runs.facts_of(run_id) == {"by": 2}
    assert AuditEvent.objects.filter(kind="write.rejected").count() == 1
    assert violations() == []
