"""For each verb: its worker is killed at a chosen point, nothing is started by hand, the run comes to its right end."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from runs.engine.faults import Point
from runs.examples import queries
from runs.models import Artifact, LogLine
from tests.durability.plant import Plant
from tests.inbox import driving

pytestmark = pytest.mark.processes


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A verb's example run, what it comes to, and where its worker can be killed."""

    workflow: str
    given: dict[str, Any]
    facts: dict[str, Any] | None
    points: tuple[tuple[Point, int], ...]
    waits_for: Callable[[Plant, UUID], None] | None = None


def in_time(plant: Plant, run_id: UUID) -> None:
    """Nobody does anything: the clock does."""


def answered(plant: Plant, run_id: UUID) -> None:
    plant.until_asked(run_id, "question")
    driving.respond(run_id, "no")


def told(plant: Plant, run_id: UUID) -> None:
    plant.until(run_id, "waiting")
    wait = driving.open_wait(run_id)
    driving.deliver(wait.event_name, wait.correlation_id, {"amount": 100})


IN_BODY: tuple[tuple[Point, int], ...] = (
    ("before_body", 1),
    ("after_body", 1),
    ("before_commit", 1),
)
PARKING: tuple[tuple[Point, int], ...] = (("parked", 1), ("before_body", 2), ("before_commit", 1))
CASES = {
    "retry": Case(
        workflow="example_retry",
        given={"failures": 1, "folder": "FOLDER"},
        facts=None,
        points=(("parked", 1), ("before_body", 2), ("committed", 1)),
    ),
    "pages": Case(
        workflow="example_pages",
        given={"count": 50, "size": 10},
        facts={"total": 1275},
        points=(("before_commit", 3), ("committed", 3), ("after_body", 1)),
    ),
    "judge": Case(
        workflow="example_judge",
        given={"count": 20, "size": 5, "folder": "FOLDER"},
        facts={"even": 10},
        points=(("before_commit", 2), ("committed", 2)),
    ),
    "ask": Case(
        workflow="example_ask", given={}, facts={"answer": "no"}, points=PARKING, waits_for=answered
    ),
    "wait_for": Case(
        workflow="example_event",
        given={"order": "ORDER"},
        facts={"payload": {"amount": 100}},
        points=PARKING,
        waits_for=told,
    ),
    "sleep": Case(
        workflow="example_sleep",
        given={"seconds": 0.3},
        facts={"slept": 0.3},
        points=PARKING,
        waits_for=in_time,
    ),
    "transactional": Case(
        workflow="example_transactional", given={"count": 4}, facts={"written": 4}, points=IN_BODY
    ),
    "log": Case(workflow="example_log", given={"count": 3}, facts={"counted": 3}, points=IN_BODY),
    "artifact": Case(
        workflow="example_artifact", given={"size": 300_000}, facts=None, points=IN_BODY
    ),
}
EVERY = [
    pytest.param(verb, point, at, id=f"{verb} at {point}:{at}")
    for verb, case in CASES.items()
    for point, at in case.points
]


def started(plant: Plant, case: Case, folder: Path) -> UUID:
    own = {"FOLDER": str(folder), "ORDER": folder.name}
    given = {
        name: own.get(value, value) if isinstance(value, str) else value
        for name, value in case.given.items()
    }
    return plant.start(case.workflow, **given)


@pytest.mark.parametrize(("verb", "point", "at"), EVERY)
def test_a_run_whose_worker_is_killed_comes_to_its_right_end(
    plant: Plant, verb: str, point: Point, at: int
) -> None:
    case, folder = CASES[verb], plant.scratch("marks")
    plant.arm(point, at=at)

    run_id = started(plant, case, folder)
    if case.waits_for:
        case.waits_for(plant, run_id)
    plant.until(run_id, "succeeded")

    assert not plant.fault.exists(), "nobody was killed"
    facts = driving.facts_of(run_id)
    assert case.facts is None or facts == case.facts
    ALSO.get(verb, nothing_more)(run_id, folder)
    assert plant.is_sound(run_id)


def nothing_more(run_id: UUID, folder: Path) -> None:
    """The facts say it all."""


def each_row_is_written_once(run_id: UUID, _: Path) -> None:
    rows = list(queries.entries_of(run_id).values_list("ordinal", flat=True))
    assert rows == sorted(set(rows))


def nothing_checkpointed_is_judged_again(run_id: UUID, folder: Path) -> None:
    each_row_is_written_once(run_id, folder)
    asked = [mark.name.split("-")[1] for mark in folder.iterdir()]
    page_of_the_death = {str(number) for number in range(6, 11)}
    twice = {number for number in asked if asked.count(number) > 1}
    assert twice <= page_of_the_death
    assert max(asked.count(number) for number in asked) <= 2


def the_artifact_is_whole(run_id: UUID, _: Path) -> None:
    stored = Artifact.objects.get(run_id=run_id)
    assert stored.size == 300_000
    assert driving.facts_of(run_id)["stored"]["digest"] == stored.digest


def each_line_is_kept_once(run_id: UUID, _: Path) -> None:
    assert LogLine.objects.filter(run_id=run_id, message="counted").count() == 3


ALSO: dict[str, Callable[[UUID, Path], None]] = {
    "pages": each_row_is_written_once,
    "judge": nothing_checkpointed_is_judged_again,
    "transactional": each_row_is_written_once,
    "artifact": the_artifact_is_whole,
    "log": each_line_is_kept_once,
}
