"""The commit that ends a run takes the next one: both or neither, and what was taken is never left lying."""

import multiprocessing
import signal
from collections.abc import Callable
from typing import Any

import pytest
from django.db import DataError, OperationalError, connections, transaction

from runs.engine import faults, versions
from runs.engine.worker import Worker
from runs.ledger import assignments, checkpoints, takeover, workers
from runs.models import Assignment, Run, Step
from runs.queries.verify import violations
from tests.effects.shop import one_step
from tests.support import runs
from tests.support.waiting import PATIENCE

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("_no_desk")]


@pytest.fixture
def claims(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What claims that stand by themselves have brought."""
    brought: list[Any] = []
    claim = assignments.claim

    def noted(**given: Any) -> Any:
        brought.append(claim(**given))
        return brought[-1]

    monkeypatch.setattr(assignments, "claim", noted)
    return brought


def drain(*, stop: Callable[[], bool] = lambda: False) -> bool:
    with runs.a_worker() as worker:
        return worker.drain_placed(until=float("inf"), stop=stop)


def test_one_claim_by_itself_is_enough_for_all_runs_that_end_one_after_another(
    claims: list[Any],
) -> None:
    with one_step(lambda run: None) as errand:
        ids = [runs.a_run(errand) for _ in range(3)]
        assert drain()

    assert [claimed.fence.run_id for claimed in claims] == ids[:1]
    assert {runs.state_of(run_id) for run_id in ids} == {"succeeded"}
    assert violations(ids) == []


def test_a_worker_that_is_to_stop_takes_nothing_more(claims: list[Any]) -> None:
    entered: list[Any] = []
    with one_step(lambda run: entered.append(run.id)) as errand:
        first, second = runs.a_run(errand), runs.a_run(errand)
        assert not drain(stop=lambda: bool(entered))

    assert (runs.state_of(first), runs.state_of(second)) == ("succeeded", "queued")
    assert len(claims) == 1
    assert violations() == []


def test_a_transaction_of_the_author_takes_nothing_that_it_may_still_roll_back(
    claims: list[Any],
) -> None:
    with one_step(lambda run: None, transactional=True) as errand:
        ids = [runs.a_run(errand) for _ in range(2)]
        assert drain()

    assert [claimed and claimed.fence.run_id for claimed in claims] == [*ids, None]
    assert {runs.state_of(run_id) for run_id in ids} == {"succeeded"}
    assert violations(ids) == []


def test_what_an_unanswered_end_has_taken_is_placed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """The commit arrived, its answer did not: the worker holds a run and does not know it."""
    advance, lost = checkpoints.advance, iter([True])

    def advances(*given: Any, **more: Any) -> Any:
        advanced = advance(*given, **more)
        if next(lost, False):
            raise OperationalError("server closed the connection unexpectedly")
        return advanced

    with one_step(lambda run: None) as errand:
        first, second = runs.a_run(errand), runs.a_run(errand)
        monkeypatch.setattr(checkpoints, "advance", advances)
        assert drain()

    assert {runs.state_of(first), runs.state_of(second)} == {"succeeded"}
    again = Assignment.objects.filter(run_id=second).latest("pk")
    assert again.reason == "its claim was not answered"
    assert Step.objects.get(run_id=second).crashes == 0
    assert violations([first, second]) == []


def test_a_run_ends_though_the_next_one_cannot_be_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    advance = checkpoints.advance

    def advances(*given: Any, then: Any = (), **more: Any) -> Any:
        if then:
            with transaction.atomic():
                advance(*given, **more)
                raise DataError("the next run is broken")
        return advance(*given, **more)

    with one_step(lambda run: None) as errand:
        ids = [runs.a_run(errand) for _ in range(2)]
        monkeypatch.setattr(checkpoints, "advance", advances)
        assert drain()

    assert {runs.state_of(run_id) for run_id in ids} == {"succeeded"}
    assert {Step.objects.get(run_id=run_id).failures for run_id in ids} == {0}
    assert violations(ids) == []


def test_a_worker_whose_run_was_taken_from_it_takes_no_other_with_its_end() -> None:
    entered: list[Any] = []

    def body(run: Any) -> None:
        entered.append(run.id)
        if len(entered) == 1:
            worker_id = Run.objects.get(pk=run.id).worker_id
            assert worker_id is not None
            takeover.take_over(worker_id, because="tests")

    with one_step(body) as errand:
        first, second = runs.a_run(errand), runs.a_run(errand)
        with runs.a_worker() as worker:
            worker.drain_placed(until=float("inf"), stop=lambda: bool(entered[1:]))

    assert Run.objects.get(pk=first).fence > 1
    assert {runs.state_of(first), runs.state_of(second)} == {"succeeded", "queued"}
    assert violations([first, second]) == []


def test_a_worker_that_is_due_to_look_for_stranded_runs_looks_with_free_hands(
    monkeypatch: pytest.MonkeyPatch, claims: list[Any]
) -> None:
    monkeypatch.setattr(versions, "LOOK_EVERY", 0.0)
    held: list[bool] = []
    look = versions.Caretaker.look

    def looks(self: Any) -> int:
        held.append(Run.objects.filter(state="running").exists())
        return look(self)

    monkeypatch.setattr(versions.Caretaker, "look", looks)
    with one_step(lambda run: None) as errand:
        ids = [runs.a_run(errand) for _ in range(2)]
        assert drain()

    assert held == [False, False, False]
    assert [claimed and claimed.fence.run_id for claimed in claims] == [*ids, None]


@pytest.mark.processes
def test_a_worker_that_is_killed_behind_that_commit_loses_neither_run() -> None:
    enlisted = multiprocessing.get_context("fork").SimpleQueue()

    def work() -> None:
        worker = Worker(on_lost=lambda: None)
        worker.enlist()
        enlisted.put(worker.id)
        faults.arm_this_process("claimed:2")
        worker.drain_placed(until=float("inf"), stop=lambda: False)

    with one_step(lambda run: None) as errand:
        first, second = runs.a_run(errand), runs.a_run(errand)
        runs.wait_for_keepers()
        connections.close_all()
        child = multiprocessing.get_context("fork").Process(target=work)
        child.start()
        child.join(PATIENCE)
        assert child.exitcode == -signal.SIGKILL
        assert runs.state_of(first) == "succeeded"
        worker_id = enlisted.get()
        held = Assignment.objects.get(run_id=second)
        assert (held.state, held.worker_id) == ("claimed", worker_id)
        workers.declare_lost(worker_id, because="killed", only_if_expired=False)
        takeover.take_over(worker_id, because="killed")
        assert drain()

    assert runs.state_of(second) == "succeeded"
    assert violations([first, second]) == []
