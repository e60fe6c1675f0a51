"""A worker that dies is found by its process; its run goes on elsewhere, once."""

import signal
import statistics
from datetime import datetime
from pathlib import Path
from uuid import UUID

import psutil
import pytest
from django.db.models import Max

from runs.ledger import lifecycle
from runs.models import Assignment, AuditEvent, Step, Worker
from runs.queries.clock import db_now
from tests.durability.belfry import kill, those
from tests.durability.plant import Plant, lines_in
from tests.inbox import driving
from tests.support.programs import Program

pytestmark = pytest.mark.processes


def claimed_again(plant: Plant, run_id: UUID) -> datetime:
    """When somebody else had the run, waited for."""

    def claimed() -> datetime | None:
        rows = Assignment.objects.filter(run_id=run_id, fence__gt=1)
        found: datetime | None = rows.aggregate(at=Max("claimed_at"))["at"]
        return found

    at: datetime = plant.eventually(claimed, "somebody else has it")
    return at


def a_run_that_stays(plant: Plant, *, gate: Path | None = None) -> UUID:
    """In the hands of a worker, in the middle of its body, until the gate is there."""
    lines = plant.scratch()
    run_id = plant.start("stays", lines=str(lines), gate=str(gate or ""))
    plant.eventually(lambda: lines_in(lines), "the body has begun")
    return run_id


def cancelled(plant: Plant, run_id: UUID) -> None:
    lifecycle.cancel(driving.the_operator(), run_id, because="the test is over")
    plant.kill_holder_of(run_id)
    plant.until(run_id, "cancelled")


def test_the_run_of_a_killed_worker_is_taken_for_its_death_and_not_for_its_lease(
    plant: Plant,
) -> None:
    took = []
    for _ in range(5):
        run_id = a_run_that_stays(plant)
        killed_at = db_now()
        worker = plant.kill_holder_of(run_id)
        again = claimed_again(plant, run_id)

        took.append((again - killed_at).total_seconds())
        lost = Worker.objects.get(pk=worker.pk)
        assert (lost.end_reason, lost.proven_dead) == ("its process is gone", True)
        assert plant.is_sound(run_id)
        cancelled(plant, run_id)

    print(f"\n5 kills: median {statistics.median(took):.2f} s, {took}")  # noqa: T201


def test_deaths_without_progress_spend_the_crash_budget_and_ask_a_person(plant: Plant) -> None:
    lines = plant.scratch()
    run_id = plant.start("dies_again", lines=str(lines), deaths=4)

    plant.until_asked(run_id, "crashes")
    assert len(lines_in(lines)) == 3
    assert plant.is_sound(run_id)
    driving.respond(run_id, "again")
    plant.until(run_id, "succeeded")

    assert len(lines_in(lines)) == 5
    assert Step.objects.get(run_id=run_id).crashes == 4
    assert plant.is_sound(run_id)


def test_stopping_after_the_crash_budget_fails_the_run(plant: Plant) -> None:
    run_id = plant.start("dies_again", lines=str(plant.scratch()), deaths=9)

    plant.until_asked(run_id, "crashes")
    driving.respond(run_id, "stop")

    plant.until(run_id, "failed")
    assert plant.is_sound(run_id)


def test_a_step_that_comes_further_each_time_does_not_spend_it(plant: Plant) -> None:
    lines = plant.scratch()
    run_id = plant.start("dies_on_each_page", lines=str(lines), pages=5)

    plant.until(run_id, "succeeded")

    assert [line[-1] for line in lines_in(lines)] == ["1", "2", "3", "4", "5"]
    assert plant.deaths_of(run_id) == 5
    assert plant.is_sound(run_id)


def test_a_cancelled_run_whose_worker_dies_is_ended_by_the_clockwork(plant: Plant) -> None:
    """R17"""
    run_id = a_run_that_stays(plant)

    answered = lifecycle.cancel(driving.the_operator(), run_id, because="no longer wanted")
    assert answered == "running"
    plant.kill_holder_of(run_id)

    run = plant.until(run_id, "cancelled")
    assert run.reason == "no longer wanted"
    assert plant.is_sound(run_id)


def test_a_cancelled_run_whose_worker_lives_ends_at_its_next_checkpoint(plant: Plant) -> None:
    """R17"""
    gate = plant.scratch("gate")
    run_id = a_run_that_stays(plant, gate=gate)

    assert lifecycle.cancel(driving.the_operator(), run_id, because="enough") == "running"
    gate.touch()

    plant.until(run_id, "cancelled")
    states = dict(Step.objects.filter(run_id=run_id).values_list("key", "state"))
    assert states == {"stay": "succeeded", "after": "skipped"}
    assert plant.is_sound(run_id)


def test_what_a_step_started_dies_with_its_worker(plant: Plant) -> None:
    """R27"""
    lines = plant.scratch()
    run_id = plant.start("has_children", lines=str(lines))
    plant.eventually(lambda: lines_in(lines), "the step has a child")
    child = int(lines_in(lines)[0][-1])

    plant.kill_holder_of(run_id)
    plant.until(run_id, "succeeded")

    plant.eventually(lambda: not _runs(child), "the child is gone")
    assert plant.is_sound(run_id)


def _runs(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def kill_all_of(plant: Plant, cluster: Program) -> None:
    """Main, sentinel and workers at once; what steps started is left alone."""
    family = [psutil.Process(cluster.pid), *cluster.family()]
    mine = {each.pid for each in family}
    roles = ("main", "sentinel", "worker", "pusher", "monitor")
    struck = [one for role in roles for one in those(plant.site, role) if one.pid in mine]
    # Stopped first: none of them shall hear of the death of another one.
    for process in struck:
        process.suspend()
    for process in struck:
        kill(process)
    cluster.process.wait()


def test_without_any_cluster_the_watch_ends_what_a_dead_worker_left(own_plant: Plant) -> None:
    """R27"""
    own_plant.watch()
    cluster, lines = own_plant.cluster(), own_plant.scratch()
    run_id = own_plant.start("has_children", lines=str(lines))
    own_plant.eventually(lambda: lines_in(lines), "the step has a child")
    child = int(lines_in(lines)[0][-1])

    kill_all_of(own_plant, cluster)

    own_plant.until(run_id, "queued")
    own_plant.eventually(lambda: not _runs(child), "the child is gone")
    own_plant.cluster()
    own_plant.until(run_id, "succeeded")


def test_two_watches_take_a_run_once(own_plant: Plant) -> None:
    """R34"""
    own_plant.watch()
    own_plant.watch()
    own_plant.cluster()
    for _ in range(5):
        run_id = a_run_that_stays(own_plant)
        own_plant.kill_holder_of(run_id)
        claimed_again(own_plant, run_id)

        taken = AuditEvent.objects.filter(run_id=run_id, kind="run.taken_over")
        assert (taken.count(), own_plant.deaths_of(run_id)) == (1, 1)
        assert Step.objects.get(run_id=run_id, key="stay").crashes == 1
        cancelled(own_plant, run_id)


def test_a_worker_killed_at_the_end_of_a_stop_has_not_crashed(own_plant: Plant) -> None:
    """R28: its grace is over, here because somebody asks a second time."""
    own_plant.watch()
    cluster, gate = own_plant.cluster(grace=600), own_plant.scratch("gate")
    run_id = a_run_that_stays(own_plant, gate=gate)
    holder = own_plant.holder_of(run_id)

    cluster.send(signal.SIGTERM)
    own_plant.eventually(lambda: drains(holder), "it is noted that it drains")
    cluster.stop()
    own_plant.until(run_id, "queued")

    step = Step.objects.get(run_id=run_id, key="stay")
    assert (own_plant.deaths_of(run_id), step.crashes) == (1, 0)
    gate.touch()
    own_plant.cluster()
    own_plant.until(run_id, "succeeded")


def drains(worker: Worker) -> bool:
    return Worker.objects.get(pk=worker.pk).draining


def test_a_stop_in_time_hands_the_run_on_at_its_checkpoint(own_plant: Plant) -> None:
    cluster, gate = own_plant.cluster(grace=600), own_plant.scratch("gate")
    run_id = a_run_that_stays(own_plant, gate=gate)
    holder = own_plant.holder_of(run_id)

    cluster.send(signal.SIGTERM)
    own_plant.eventually(lambda: drains(holder), "it is noted that it drains")
    gate.touch()

    assert cluster.ended() == 0

    assert driving.state_of(run_id) == "queued"
    assert own_plant.deaths_of(run_id) == 0
    own_plant.cluster()
    own_plant.until(run_id, "succeeded")
    assert own_plant.attempts_of(run_id, "stay") == 1
