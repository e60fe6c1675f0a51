"""An event arrives at the very moment its wait opens, many times: the run goes on exactly once (R14)."""

import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from uuid import UUID, uuid4

import pytest
from django.db import OperationalError, connection, connections

from runs.engine.clockwork import Clockwork
from runs.ledger import lifecycle
from runs.models import Assignment, AuditEvent, Event, Wait
from runs.queries.verify import violations
from tests.events.waiting import waits_for_payment
from tests.support import runs
from tests.support.waiting import PATIENCE

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("_no_desk")]


def together(*acts: Callable[[], object]) -> list[object]:
    """All at once, each in a thread with a connection, and so with transactions, of its own."""
    gate, said = threading.Barrier(len(acts)), list[object]()

    def run(act: Callable[[], object]) -> None:
        try:
            connection.ensure_connection()
            gate.wait(PATIENCE)
            said.append(_patiently(act))
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=(act,)) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(2 * PATIENCE)
    assert len(said) == len(acts)
    return said


def _patiently(act: Callable[[], object]) -> object:
    """As any sender does that gets no answer: the same message once more."""
    for _ in range(20):
        try:
            return act()
        except OperationalError:
            continue
    raise AssertionError("The database never answered.")


@pytest.mark.parametrize(
    "races", [pytest.param(100, id="100"), pytest.param(1000, id="1000", marks=pytest.mark.long)]
)
@pytest.mark.timeout(600)
def test_at_the_moment_the_wait_opens_twice_over_the_run_goes_on_exactly_once(races: int) -> None:
    """One worker parks the run while two senders deliver the same message."""
    became: Counter[object] = Counter()
    # Spreading in time needs no secrecy.
    chance = random.Random(7)  # noqa: S311
    with waits_for_payment():
        began = time.monotonic()
        runs.deliver("order.paid", "order-7", {"sum": -1})
        runs.a_run("waits_for_payment")
        runs.drain()
        spread = min(time.monotonic() - began, 0.06)
        for number in range(races):
            run_id, message = runs.a_run("waits_for_payment"), str(uuid4())

            def deliver(
                message: str = message,
                number: int = number,
                after: float = chance.uniform(0, spread),
            ) -> str:
                time.sleep(after)
                return runs.deliver("order.paid", "order-7", {"sum": number}, message_id=message)

            said = together(runs.drain, deliver, deliver)
            runs.drain()
            became.update(each for each in said if each is not None)
            _went_on_once(run_id, number)
            # Sooner when it came too late to be first, and later when it was: so it stays at the moment.
            spread = spread * 0.8 if "used" in said else spread * 1.25

    assert became["duplicate"] == races
    assert became["used"] + became["kept"] == races
    assert min(became["used"], became["kept"]) > 0, "the two came in one order only"
    assert violations() == []


def _went_on_once(run_id: UUID, number: int) -> None:
    assert runs.state_of(run_id) == "succeeded"
    assert runs.facts_of(run_id)["paid"] == {"sum": number}
    wait = Wait.objects.get(run_id=run_id)
    assert (wait.state, Event.objects.filter(used_by=wait).count()) == ("resolved", 1)
    assert AuditEvent.objects.filter(run_id=run_id, kind="event.used").count() == 1
    assert Assignment.objects.filter(run_id=run_id).count() <= 2


@pytest.mark.timeout(300)
def test_at_the_moment_the_run_is_cancelled_one_of_the_two_wins() -> None:
    """I13"""
    with waits_for_payment():
        for number in range(25):
            run_id = runs.a_run("waits_for_payment")
            runs.drain()

            def cancel(run_id: UUID = run_id) -> object:
                return lifecycle.cancel(runs.the_operator(), run_id, because="not wanted")

            def deliver(number: int = number) -> str:
                return runs.deliver("order.paid", "order-7", {"sum": number})

            said = together(cancel, deliver)
            runs.drain()
            used = Event.objects.filter(used_by__run_id=run_id).count()
            assert ("used" in said) == bool(used)
            assert runs.state_of(run_id) in (("cancelled", "succeeded") if used else ("cancelled",))
            Event.objects.filter(used_by=None).delete()

    assert violations() == []


@pytest.mark.timeout(300)
def test_two_clockworks_and_a_sender_use_an_event_once() -> None:
    with waits_for_payment():
        for number in range(10):
            run_id = runs.a_run("waits_for_payment")
            runs.drain()
            message = str(uuid4())

            def deliver(message: str = message, number: int = number) -> str:
                return runs.deliver("order.paid", "order-7", {"sum": number}, message_id=message)

            together(Clockwork().go_round, Clockwork().go_round, deliver)
            runs.drain()
            _went_on_once(run_id, number)

    assert violations() == []
