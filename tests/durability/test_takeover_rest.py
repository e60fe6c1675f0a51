"""A takeover that its own watch did not live to finish is finished by the next one."""

import subprocess
from collections.abc import Iterator
from datetime import timedelta
from uuid import UUID, uuid4

import psutil
import pytest

from runs.definition import registry
from runs.engine import identity
from runs.engine.clockwork import Clockwork
from runs.engine.takeover import take_over_lost
from runs.engine.worker import known_plans
from runs.ledger import assignments, lifecycle, pausing, takeover, workers
from runs.models import Worker
from runs.queries.clock import db_now
from runs.queries.verify import violations
from runs.rules.identity import ProcessIdentity
from tests.commands import workflows
from tests.support import runs

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _workflows_of_these_tests() -> Iterator[None]:
    with registry.isolated():
        for workflow in workflows.made():
            registry.register(workflow)
        yield


@pytest.fixture
def process() -> Iterator[ProcessIdentity]:
    """A process of this machine that lives until somebody ends it."""
    sleeper = subprocess.Popen(["sleep", "600"], start_new_session=True)
    yield identity.of_process(sleeper.pid)
    sleeper.kill()
    sleeper.wait()


def held_by(process: ProcessIdentity) -> tuple[UUID, UUID]:
    """A run in the hands of a worker that is this process."""
    run_id, worker_id = runs.a_run("count"), uuid4()
    workers.enlist(worker_id, process, cluster_pid=0, release="")
    assert assignments.claim(worker_id=worker_id, plans=known_plans())
    return run_id, worker_id


def declared_lost(worker_id: UUID, *, ago: timedelta) -> None:
    """Watch said so, and then died."""
    assert workers.declare_lost(worker_id, because="the test says so", only_if_expired=False)
    Worker.objects.filter(pk=worker_id).update(ended_at=db_now() - ago)


@pytest.mark.parametrize("verb", ["pause", "cancel"])
def test_what_was_asked_of_a_dead_holder_is_done_by_who_takes_over(
    process: ProcessIdentity, verb: str
) -> None:
    """R17"""
    run_id, worker_id = held_by(process)
    how = {"pause": pausing.pause, "cancel": lifecycle.cancel}[verb]
    assert how(runs.the_operator(), run_id, because="enough") == "running"

    takeover.take_over(worker_id, because="its process is gone")

    assert runs.state_of(run_id) == {"pause": "paused", "cancel": "cancelled"}[verb]
    assert violations([run_id]) == []


def test_the_run_of_a_worker_that_will_not_die_is_fenced_and_not_placed(
    process: ProcessIdentity, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R22"""
    run_id, worker_id = held_by(process)
    fence = runs.the_run(run_id).fence
    Worker.objects.filter(pk=worker_id).update(lease_until=db_now() - timedelta(minutes=1))
    monkeypatch.setattr("runs.engine.takeover.end_process", lambda process: False)

    assert take_over_lost(seen_from=identity.of_this_process(), leases_count=True) == 1

    run = runs.the_run(run_id)
    assert (run.state, run.fence) == ("running", fence + 1)
    assert not Worker.objects.get(pk=worker_id).proven_dead


def test_what_a_dead_worker_had_started_is_ended_before_its_run_is_placed() -> None:
    """R27"""
    started = "sleep 600 & echo $!; exec sleep 601"
    with subprocess.Popen(
        ["sh", "-c", started], process_group=0, stdout=subprocess.PIPE, text=True
    ) as leader:
        assert leader.stdout is not None
        child = int(leader.stdout.readline())
        run_id, _ = held_by(identity.of_process(leader.pid))
        leader.kill()
        leader.wait()

        assert take_over_lost(seen_from=identity.of_this_process(), leases_count=False) == 1

    assert runs.state_of(run_id) == "queued"
    assert not psutil.pid_exists(child) or psutil.Process(child).status() == "zombie"


def test_the_runs_of_a_worker_that_was_only_declared_lost_go_on(process: ProcessIdentity) -> None:
    run_id, worker_id = held_by(process)
    declared_lost(worker_id, ago=timedelta(minutes=5))
    assert any("It runs on a worker that is lost" in found.text for found in violations([run_id]))

    Clockwork().go_round()
    runs.drain()

    assert runs.state_of(run_id) == "succeeded"
    assert violations([run_id]) == []


def test_the_process_is_ended_before_its_run_is_given_away(process: ProcessIdentity) -> None:
    run_id, worker_id = held_by(process)
    takeover.raise_fences(worker_id, because="the test says so")
    declared_lost(worker_id, ago=timedelta(minutes=5))

    Clockwork().go_round()

    assert identity.life_of(process, seen_from=identity.of_this_process()) == "dead"
    assert Worker.objects.get(pk=worker_id).proven_dead
    assert runs.state_of(run_id) == "queued"


def test_a_takeover_that_is_still_going_on_is_left_to_whoever_began_it(
    process: ProcessIdentity, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runs.engine.takeover.OTHERS_TAKE_WITHIN", timedelta(hours=1))
    run_id, worker_id = held_by(process)
    declared_lost(worker_id, ago=timedelta(seconds=1))

    Clockwork().go_round()

    assert runs.state_of(run_id) == "running"
    assert violations([run_id]) == []
