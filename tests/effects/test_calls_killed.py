"""A worker is killed around a call: the receiver counts the effect once under its key, or a person is asked."""

from pathlib import Path
from uuid import UUID

import pytest

from runs.engine.faults import Point
from runs.examples import receivers
from runs.models import Call
from tests.durability.plant import Plant
from tests.inbox import driving

pytestmark = pytest.mark.processes

IN_DOUBT: tuple[Point, ...] = ("intent_committed", "sent", "before_result")
# Behind the effect, when nobody knows of it yet.
HAPPENED: tuple[Point, ...] = ("sent", "before_result")


def effects_in(receiver: Path) -> list[str]:
    """The keys under which something really happened."""
    return [line["key"] for line in receivers.lines_of(receiver) if line["line"] == "effect"]


def happened_once(run_id: UUID, receiver: Path) -> bool:
    keys = [call.key for call in Call.objects.filter(run_id=run_id, state="confirmed")]
    return sorted(effects_in(receiver)) == sorted(keys)


def a_call_killed_at(plant: Plant, workflow: str, point: Point) -> tuple[UUID, Path]:
    receiver = plant.scratch("receiver")
    plant.arm(point)
    run_id = plant.start(workflow, receiver=str(receiver))
    plant.eventually(lambda: not plant.fault.exists(), "the worker is killed")
    return run_id, receiver


@pytest.mark.parametrize("point", [*IN_DOUBT, "result_committed", "after_body"])
def test_under_a_contract_it_is_sent_again_and_happens_once(plant: Plant, point: Point) -> None:
    run_id, receiver = a_call_killed_at(plant, "example_call_contract", point)

    plant.until(run_id, "succeeded")

    assert happened_once(run_id, receiver)
    assert plant.deaths_of(run_id) == 1
    (call,) = Call.objects.filter(run_id=run_id)
    assert call.sends == (2 if point in IN_DOUBT else 1)
    assert plant.is_sound(run_id)


@pytest.mark.parametrize("point", [*HAPPENED, "result_committed"])
def test_with_a_probe_it_is_looked_up_and_not_sent_again(plant: Plant, point: Point) -> None:
    run_id, receiver = a_call_killed_at(plant, "example_call_probe", point)

    plant.until(run_id, "succeeded")

    (call,) = Call.objects.filter(run_id=run_id)
    assert (call.sends, happened_once(run_id, receiver)) == (1, True)
    assert plant.is_sound(run_id)


def test_a_probes_no_counts_once_the_sender_is_dead_and_its_time_is_over(plant: Plant) -> None:
    """R1"""
    run_id, receiver = a_call_killed_at(plant, "settles", "intent_committed")

    plant.until(run_id, "succeeded")

    (call,) = Call.objects.filter(run_id=run_id)
    # The call's timeout of a second, and a second more until the receiver would surely show it.
    assert (call.sent_at - call.intended_at).total_seconds() >= 2
    assert (call.sends, happened_once(run_id, receiver)) == (2, True)
    assert plant.is_sound(run_id)


@pytest.mark.parametrize("point", IN_DOUBT)
def test_with_neither_a_person_is_asked_and_nothing_is_guessed(plant: Plant, point: Point) -> None:
    """I6"""
    run_id, receiver = a_call_killed_at(plant, "example_call_neither", point)

    plant.until_asked(run_id, "reconcile")
    if point in HAPPENED:
        driving.respond(run_id, "happened", receiver_id="receipt-7")
    else:
        driving.respond(run_id, "did_not")
    plant.until(run_id, "succeeded")

    assert happened_once(run_id, receiver)
    assert plant.is_sound(run_id)


def test_a_result_that_was_booked_asks_nobody(plant: Plant) -> None:
    run_id, receiver = a_call_killed_at(plant, "example_call_neither", "result_committed")

    plant.until(run_id, "succeeded")

    (call,) = Call.objects.filter(run_id=run_id)
    assert (call.sends, call.reused, happened_once(run_id, receiver)) == (1, 1, True)
    assert plant.is_sound(run_id)


def test_whoever_says_stop_stops_the_run_and_the_call_stays_unknown(plant: Plant) -> None:
    run_id, receiver = a_call_killed_at(plant, "example_call_neither", "sent")

    plant.until_asked(run_id, "reconcile")
    driving.respond(run_id, "stop")
    plant.until(run_id, "failed")

    assert len(effects_in(receiver)) == 1
    assert plant.is_sound(run_id)


PLANNING: list[tuple[Point, int]] = [("before_commit", 1), ("committed", 1), ("parked", 1)]
APPLYING: list[tuple[Point, int]] = [
    ("intent_committed", 2),
    ("sent", 2),
    ("result_committed", 2),
    ("before_commit", 1),
]


@pytest.mark.parametrize(("point", "at"), PLANNING)
def test_a_plan_whose_maker_is_killed_is_shown_once_and_whole(
    plant: Plant, point: Point, at: int
) -> None:
    receiver = plant.scratch("receiver")
    plant.arm(point, at=at)

    run_id = plant.start("example_plan", receiver=str(receiver))
    plant.until_asked(run_id, "plan")

    assert effects_in(receiver) == []
    assert driving.approve(run_id) == 3
    plant.until(run_id, "succeeded")
    assert not plant.fault.exists()
    assert happened_once(run_id, receiver)
    assert plant.is_sound(run_id)


@pytest.mark.parametrize(("point", "at"), APPLYING)
def test_approved_calls_are_each_made_once_whoever_dies_between_them(
    plant: Plant, point: Point, at: int
) -> None:
    receiver = plant.scratch("receiver")
    run_id = plant.start("example_plan", receiver=str(receiver))
    plant.until_asked(run_id, "plan")
    plant.arm(point, at=at)

    driving.approve(run_id, strike=["invoice-3"])
    plant.until(run_id, "succeeded")

    assert not plant.fault.exists()
    assert happened_once(run_id, receiver)
    paid = [line["resource"] for line in receivers.lines_of(receiver) if line["line"] == "effect"]
    assert paid == ["invoice-1", "invoice-2"]
    assert driving.facts_of(run_id)["paid"] == {"confirmed": 2, "refused": 0, "struck_off": 1}
    assert plant.is_sound(run_id)


def test_a_call_that_its_next_attempt_does_not_name_asks_before_the_step_succeeds(
    plant: Plant,
) -> None:
    """R2"""
    receiver = plant.scratch("receiver")
    run_id = plant.start(
        "changes_its_mind", receiver=str(receiver), lines=str(plant.scratch()), changes="resource"
    )

    plant.until_asked(run_id, "orphaned call")
    driving.respond(run_id, "keep")
    plant.until(run_id, "succeeded")

    assert len(effects_in(receiver)) == 2
    assert plant.is_sound(run_id)


def test_the_same_resource_with_another_request_is_a_conflict_and_never_a_second_effect(
    plant: Plant,
) -> None:
    """I5"""
    receiver = plant.scratch("receiver")
    run_id = plant.start(
        "changes_its_mind", receiver=str(receiver), lines=str(plant.scratch()), changes="request"
    )

    asked = plant.until_asked(run_id, "conflict")
    assert '"first":{"amount":1' in asked.subject
    assert '"new":{"amount":2' in asked.subject
    driving.respond(run_id, "keep_first")
    plant.until(run_id, "succeeded")

    assert happened_once(run_id, receiver)
    assert plant.is_sound(run_id)
