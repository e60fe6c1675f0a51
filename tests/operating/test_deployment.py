"""A deployment as it happens: the old cluster ends, the new one begins, runs that wait go on under the new plan."""

from uuid import UUID

import pytest

from runs.definition import registry
from tests.durability.plant import Plant
from tests.operating import deployed_first, deployed_second
from tests.support import runs

pytestmark = pytest.mark.processes


def begun(plant: Plant, order: str) -> UUID:
    with registry.isolated():
        registry.discover([deployed_first.__name__])
        return plant.start("deployed_order", order=order)


def test_a_run_that_waited_through_a_deployment_is_migrated_when_its_event_comes(
    own_plant: Plant,
) -> None:
    own_plant.watch()
    old = own_plant.cluster(workers=1, WORKFLOW_APPS=deployed_first.__name__)
    run_id = begun(own_plant, "A-17")
    own_plant.until(run_id, "waiting")
    old.stop()
    new = own_plant.cluster(workers=1, WORKFLOW_APPS=deployed_second.__name__)

    runs.deliver("paid", "A-17", {"amount": 100})

    run = own_plant.until(run_id, "succeeded")
    assert (run.version, run.steps_total) == (2, 4)
    assert runs.facts_of(run_id) == {"cents": 10_000, "paid": True, "checked": True, "told": 10_000}
    new.stop()
