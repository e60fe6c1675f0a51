"""Workers and commands are killed while a run is replayed or restarted: the receiver counts each key once."""

import time
from functools import partial
from pathlib import Path
from uuid import UUID

import pytest

from runs.engine.faults import Point
from runs.examples import receivers
from runs.ledger import replaying, restarting
from runs.models import Call, Run, Wait
from runs.queries.lineage import restarts_of
from tests.durability.plant import Plant
from tests.inbox import driving

pytestmark = pytest.mark.processes

BEHIND_BEGIN = 1


def a_run_that_asks(plant: Plant) -> tuple[UUID, Path]:
    receiver = plant.scratch("receiver")
    run_id = plant.start("pays_and_asks", receiver=str(receiver))
    plant.until_asked(run_id, "question")
    return run_id, receiver


def replay(run_id: UUID) -> None:
    replaying.replay(driving.the_operator(), run_id, checkpoint=BEHIND_BEGIN, because="tests")


def effects_in(receiver: Path) -> list[str]:
    return sorted(each["key"] for each in receivers.lines_of(receiver) if each["line"] == "effect")


def each_happened_once(receiver: Path, *run_ids: UUID) -> bool:
    keys = Call.objects.filter(run__in=run_ids, state="confirmed").values_list("key", flat=True)
    return effects_in(receiver) == sorted(keys)


@pytest.mark.parametrize("point", ["before_body", "before_commit", "parked"])
def test_a_replay_whose_worker_is_killed_sends_nothing_twice(plant: Plant, point: Point) -> None:
    run_id, receiver = a_run_that_asks(plant)
    plant.arm(point)

    replay(run_id)
    plant.eventually(lambda: not plant.fault.exists(), "the worker is killed")
    plant.until_asked(run_id, "question")
    driving.respond(run_id, "yes")
    run = plant.until(run_id, "succeeded")

    assert (run.generation, len(effects_in(receiver))) == (2, 2)
    assert each_happened_once(receiver, run_id)
    assert plant.is_sound(run_id)


@pytest.mark.parametrize("point", ["intent_committed", "sent", "committed"])
def test_a_restart_whose_worker_is_killed_sends_each_new_key_once(
    plant: Plant, point: Point
) -> None:
    old, receiver = a_run_that_asks(plant)
    new = restarting.restart(driving.the_operator(), old, because="tests").id
    plant.until_asked(new, "restart")
    plant.arm(point)

    driving.respond(new, "restart")
    plant.eventually(lambda: not plant.fault.exists(), "the worker is killed")
    plant.until_asked(new, "question")

    assert Run.objects.get(pk=old).state == "superseded"
    assert len(effects_in(receiver)) == 4
    assert each_happened_once(receiver, old, new)
    assert plant.is_sound(old, new)


def test_a_worker_that_is_killed_with_a_restart_requested_hands_over_by_watch(
    plant: Plant,
) -> None:
    """R17"""
    lines, gate = plant.scratch(), plant.scratch("gate")
    old = plant.start("stays", lines=str(lines), gate=str(gate))
    plant.eventually(lines.exists, "the body is entered")
    new = restarting.restart(driving.the_operator(), old, because="tests").id
    assert Run.objects.get(pk=old).state == "running"

    plant.kill_holder_of(old)
    gate.touch()
    plant.eventually(lambda: Run.objects.get(pk=old).state == "superseded", "watch supersedes it")
    plant.until(new, "succeeded")
    assert plant.is_sound(old, new)


def asks(run_id: UUID) -> bool:
    """In the generation that it is in by now: what is killed while it commits may have done so."""
    return asks_in(run_id, generation=Run.objects.get(pk=run_id).generation)


def asks_in(run_id: UUID, *, generation: int) -> bool:
    waits = Wait.objects.filter(run_id=run_id, state="open", generation=generation)
    return waits.exists()


def ends_killed(plant: Plant, *command: str, **armed: str) -> None:
    assert plant.site.start(*command, port=0, **armed).ended() == -9


def test_a_command_that_is_killed_behind_its_commit_has_done_it_once(plant: Plant) -> None:
    replayed, receiver = a_run_that_asks(plant)
    command: tuple[str, ...] = (
        "runs",
        "replay",
        str(replayed),
        "--from",
        str(BEHIND_BEGIN),
        "--because",
        "tests",
    )
    ends_killed(plant, *command, FAULT_AT="replay_placed")
    plant.eventually(lambda: asks_in(replayed, generation=2), "it asks once more")

    command = ("runs", "restart", str(replayed), "--because", "tests")
    ends_killed(plant, *command, FAULT_AT="restart_placed")

    (new,) = restarts_of(replayed)
    plant.until_asked(new.pk, "restart")
    driving.respond(new.pk, "leave")
    assert Run.objects.get(pk=replayed).state == "waiting"
    assert each_happened_once(receiver, replayed)
    assert plant.is_sound(replayed, new.pk)


def test_a_command_that_is_killed_at_any_time_has_done_all_of_it_or_nothing(plant: Plant) -> None:
    run_id, receiver = a_run_that_asks(plant)
    command = ("runs", "replay", str(run_id), "--from", str(BEHIND_BEGIN), "--because", "tests")
    for moment in (1.0, 1.3):
        program = plant.site.start(*command, port=0)
        time.sleep(moment)
        program.kill()
        plant.eventually(partial(asks, run_id), "it asks")

    driving.respond(run_id, "yes")
    plant.until(run_id, "succeeded")
    assert each_happened_once(receiver, run_id)
    assert plant.is_sound(run_id)
