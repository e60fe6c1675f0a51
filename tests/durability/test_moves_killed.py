"""A worker is killed between what was requested of it and its doing it: the run comes to rest all the same."""

import os
import signal
from contextlib import suppress
from uuid import UUID

import pytest

from runs.ledger import lifecycle, pausing, resuming
from runs.models import Run
from tests.durability.plant import Plant, lines_in
from tests.support import runs

pytestmark = pytest.mark.processes


def pause(run_id: UUID) -> str:
    return pausing.pause(runs.the_operator(), run_id, because="not now")


def cancel(run_id: UUID) -> str:
    return lifecycle.cancel(runs.the_operator(), run_id, because="enough")


VERBS = {"paused": pause, "cancelled": cancel}


@pytest.mark.parametrize("state", VERBS)
def test_a_request_outlives_the_worker_that_was_to_honour_it(plant: Plant, state: str) -> None:
    lines = plant.scratch()
    run_id = plant.start("stays", lines=str(lines), seconds=600)
    plant.eventually(lambda: lines_in(lines, run_id=run_id), "the body is entered")

    assert VERBS[state](run_id) == "running"
    plant.kill_holder_of(run_id)
    plant.until(run_id, state)

    assert [words[-1] for words in lines_in(lines, run_id=run_id)] == ["came"]
    assert plant.is_sound(run_id)


@pytest.mark.parametrize("state", VERBS)
def test_a_worker_that_dies_behind_the_checkpoint_it_was_to_stop_at_has_stopped(
    plant: Plant, state: str
) -> None:
    lines, gate = plant.scratch(), plant.scratch("gate")
    run_id = plant.start("stays", lines=str(lines), gate=str(gate))
    plant.eventually(lambda: lines_in(lines, run_id=run_id), "the body is entered")
    plant.arm("committed")

    VERBS[state](run_id)
    gate.touch()
    plant.until(run_id, state)

    assert not plant.fault.exists(), "nobody was killed"
    assert [words[1] for words in lines_in(lines, run_id=run_id)] == ["stay", "stay"]
    assert plant.is_sound(run_id)


def test_a_run_paused_by_a_takeover_goes_on_and_does_nothing_twice(plant: Plant) -> None:
    lines, gate = plant.scratch(), plant.scratch("gate")
    run_id = plant.start("lines_thrice", lines=str(lines), gate=str(gate))
    plant.eventually(lambda: Run.objects.get(pk=run_id).step == "second", "the first step is done")
    pause(run_id)
    plant.kill_holder_of(run_id)
    plant.until(run_id, "paused")
    gate.touch()

    resumed = resuming.resume(runs.the_operator(), run_id)
    plant.until(run_id, "succeeded")

    assert resumed.kept.steps >= 1
    assert [words[1] for words in lines_in(lines, run_id=run_id)] == ["first", "second", "third"]
    assert plant.is_sound(run_id)


def test_a_cancel_with_nobody_alive_is_done_by_the_watch_that_comes(plant: Plant) -> None:
    lines = plant.scratch()
    run_id = plant.start("stays", lines=str(lines), seconds=600)
    holder = plant.holder_of(run_id)
    plant.eventually(lambda: lines_in(lines, run_id=run_id), "the body is entered")
    for program in plant.site.programs:
        if program.process.poll() is None:
            os.killpg(program.pid, signal.SIGKILL)
    # It may have gone with its cluster.
    with suppress(ProcessLookupError):
        os.kill(holder.pid, signal.SIGKILL)

    assert cancel(run_id) == "running"
    assert Run.objects.get(pk=run_id).cancel_requested
    plant.watch()
    plant.until(run_id, "cancelled")

    assert plant.is_sound(run_id)
    plant.cluster()
