"""Couriers are killed between each two statements of relaying, two watches beside each other all the while."""

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import pytest
from pytest_django import DjangoDbBlocker

from runs.engine.faults import Point
from runs.examples import receivers
from runs.models import Call, Message
from tests.durability.plant import Plant, a_plant
from tests.inbox import driving

pytestmark = pytest.mark.processes

# In the order in which a worker puts a call, and a courier brings it through.
RELAYING: tuple[Point, ...] = (
    "parked",
    "relay_taken",
    "relay_left",
    "sent",
    "before_result",
    "relay_settled",
)
IN_DOUBT: tuple[Point, ...] = ("relay_left", "sent", "before_result")


@pytest.fixture(scope="module")
def relay_plant(
    django_db_setup: None,
    django_db_blocker: DjangoDbBlocker,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Plant]:
    """A cluster, and two watches whose couriers die where a test arms it."""
    with django_db_blocker.unblock(), a_plant(tmp_path_factory.mktemp("relay")) as built:
        for _ in range(2):
            built.watch(FAULT_AT=f"@{built.fault}")
        built.cluster()
        yield built
        assert built.is_sound()


def lines_of(receiver: Path, line: str) -> list[str]:
    return [each["key"] for each in receivers.lines_of(receiver) if each["line"] == line]


def keys_of(run_id: UUID) -> list[str]:
    return sorted(Call.objects.filter(run_id=run_id).values_list("key", flat=True))


def killed_at(plant: Plant, workflow: str, point: Point) -> tuple[UUID, Path]:
    receiver = plant.scratch("receiver")
    plant.arm(point)
    run_id = plant.start(workflow, receiver=str(receiver), resource=receiver.name)
    plant.eventually(lambda: not plant.fault.exists(), f"somebody is killed at {point}")
    return run_id, receiver


@pytest.mark.parametrize("point", RELAYING)
def test_a_receiver_that_dedupes_counts_one_effect_under_one_key(
    relay_plant: Plant, point: Point
) -> None:
    run_id, receiver = killed_at(relay_plant, "relays", point)

    relay_plant.until(run_id, "succeeded")

    assert lines_of(receiver, "effect") == keys_of(run_id)
    assert set(lines_of(receiver, "arrived")) == set(keys_of(run_id))
    assert relay_plant.is_sound(run_id)


@pytest.mark.parametrize("point", RELAYING)
def test_one_that_promises_nothing_is_not_sent_anything_twice_and_a_person_is_asked(
    relay_plant: Plant, point: Point
) -> None:
    """I6, R6"""
    run_id, receiver = killed_at(relay_plant, "relays_blindly", point)

    if point in IN_DOUBT:
        relay_plant.until_asked(run_id, "reconcile")
        arrived = bool(lines_of(receiver, "effect"))
        driving.respond(run_id, "happened", receiver_id="1") if arrived else driving.respond(
            run_id, "did_not"
        )
    relay_plant.until(run_id, "succeeded")

    assert lines_of(receiver, "effect") == keys_of(run_id)
    assert relay_plant.is_sound(run_id)


def test_twenty_calls_of_four_runs_each_happen_once_with_two_watches(relay_plant: Plant) -> None:
    receiver = relay_plant.scratch("receiver")
    ids = [
        relay_plant.start("relays_blindly", receiver=str(receiver), times=5, resource=f"r{number}")
        for number in range(4)
    ]

    for run_id in ids:
        relay_plant.until(run_id, "succeeded")

    lines = [each["line"] for each in receivers.lines_of(receiver)]
    assert lines == ["arrived", "effect"] * 20, "one at a time"
    assert sorted(lines_of(receiver, "effect")) == sorted(
        key for run_id in ids for key in keys_of(run_id)
    )


def test_a_hung_receiver_delays_neither_another_lane_nor_a_takeover(relay_plant: Plant) -> None:
    """R32"""
    receiver, other = relay_plant.scratch("receiver"), relay_plant.scratch("receiver")
    hung = relay_plant.start(
        "relays_patiently", receiver=str(receiver), resource=receiver.name, before_effect=600.0
    )
    relay_plant.eventually(lambda: lines_of(receiver, "arrived"), "the receiver hangs")

    passed = relay_plant.start("relays", receiver=str(other), resource=other.name, times=2)
    gate = relay_plant.scratch("gate")
    taken = relay_plant.start("stays", lines=str(relay_plant.scratch()), gate=str(gate))
    relay_plant.kill_holder_of(taken)
    gate.touch()
    relay_plant.until(passed, "succeeded")
    relay_plant.until(taken, "succeeded")

    assert relay_plant.deaths_of(taken) == 1
    message = Message.objects.get(run_id=hung)
    assert (message.state, lines_of(receiver, "effect")) == ("pending", []), "it still hangs"
    (sender,) = json.loads(message.senders)
    os.kill(json.loads(sender)["pid"], signal.SIGKILL)
    relay_plant.until_asked(hung, "reconcile")
    driving.respond(hung, "stop")
    relay_plant.until(hung, "failed")
    assert lines_of(receiver, "effect") == []
