"""However many workers, clusters and doorbells there are, every body runs once."""

from collections import Counter

import pytest
from django.db import transaction

from runs.dispatch import bell
from runs.models import AuditEvent
from tests.durability.plant import Plant, lines_in

pytestmark = pytest.mark.processes
RUNS = 40


def each_body_ran_once(plant: Plant, runs: int = RUNS) -> None:
    lines = plant.scratch()
    started = [plant.start("lines_thrice", lines=str(lines)) for _ in range(runs)]
    for run_id in started:
        for _ in range(10):
            with transaction.atomic():
                bell.ring(run_id.int % 1000)
    for run_id in started:
        plant.until(run_id, "succeeded")

    counted = Counter((run, step) for run, step, *_ in lines_in(lines))
    assert set(counted.values()) == {1}
    assert len(counted) == 3 * runs
    workers = {line[3] for line in lines_in(lines)}
    assert plant.is_sound(*started)
    plant.workers_seen = len(workers)


def test_two_clusters_and_ten_doorbells_a_run_execute_every_body_once(own_plant: Plant) -> None:
    own_plant.watch()
    own_plant.cluster()
    own_plant.cluster()

    each_body_ran_once(own_plant)

    assert own_plant.workers_seen > 1


def test_one_worker_alone_does_all_of_it(own_plant: Plant) -> None:
    own_plant.watch()
    own_plant.cluster(workers=1)

    each_body_ran_once(own_plant)

    assert own_plant.workers_seen == 1


def test_a_body_that_ran_before_its_worker_died_does_not_run_again(plant: Plant) -> None:
    """I2: only the step in flight is entered again."""
    lines = plant.scratch()
    plant.arm("before_body", at=3)

    run_id = plant.start("lines_thrice", lines=str(lines))
    plant.until(run_id, "succeeded")

    assert [line[1] for line in lines_in(lines)] == ["first", "second", "third"]
    assert AuditEvent.objects.filter(run_id=run_id, kind="run.taken_over").count() == 1
    assert plant.is_sound(run_id)
