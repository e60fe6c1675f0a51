"""An event and the wait for it, from two processes at once, never miss each other."""

import random
import time

import pytest

from runs.models import AuditEvent, Event, Wait
from tests.durability.plant import Plant
from tests.inbox import driving

pytestmark = pytest.mark.processes
ROUNDS = 200
# Of so many rounds one has the wait first for certain and one the event; chance has the others.
EACH_WAY = 8


def test_in_two_hundred_races_no_event_and_wait_miss_each_other(own_plant: Plant) -> None:
    """R14: without a watch, so that only the two themselves can meet."""
    own_plant.cluster(workers=1)
    # Spreading in time needs no secrecy.
    chance, order = random.Random(7), own_plant.scratch().name  # noqa: S311
    run_id = own_plant.start("waits_often", order=order, times=ROUNDS)

    def deliver(number: int) -> None:
        driving.deliver("order.paid", f"{order}-{number}", {"sum": number})

    for number in range(ROUNDS):
        if number % EACH_WAY == 0:
            waits = Wait.objects.filter(run_id=run_id, correlation_id=f"{order}-{number}")
            own_plant.eventually(waits.exists, f"the wait for event {number} is open")
        elif number % EACH_WAY == 1:
            # Before the event that its wait comes after: it is there first, however fast the worker is.
            deliver(number + 1)
        time.sleep(chance.uniform(0, 0.012))
        if number % EACH_WAY != 2:
            deliver(number)
        own_plant.eventually(
            Event.objects.filter(correlation_id=f"{order}-{number}", used_by__isnull=False).exists,
            f"event {number} is used",
        )

    own_plant.until(run_id, "succeeded")
    assert driving.facts_of(run_id) == {"sums": list(range(ROUNDS))}
    by_event = Wait.objects.filter(run_id=run_id, state="resolved", kind="event")
    assert by_event.count() == ROUNDS
    parked = AuditEvent.objects.filter(run_id=run_id, kind="run.parked").count()
    in_turn = len(range(0, ROUNDS, EACH_WAY))
    assert in_turn <= parked <= ROUNDS - in_turn, "the two came in one order only"
