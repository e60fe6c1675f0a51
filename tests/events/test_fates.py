"""What becomes of an event: used, early, late, twice, for a run that is over; each recorded and shown."""

from datetime import timedelta

import pytest

from runs.engine.clockwork import Clockwork
from runs.ledger import lifecycle, resuming
from runs.models import AuditEvent, Event, Wait
from runs.queries.pages_events import Row
from runs.queries.verify import violations
from tests.events.waiting import ORDER, a_waiting_run, waits_for_payment
from tests.support import runs

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("_no_desk")]


def the_row() -> Row:
    return Row(event=Event.objects.select_related("used_by__run", "late_for__run").get())


def test_one_that_comes_before_its_wait_is_kept_and_used_by_it() -> None:
    with waits_for_payment():
        runs.the_tenant()
        assert runs.deliver("order.paid", ORDER, {"sum": 1}) == "kept"
        assert the_row().which == "kept"
        run_id = runs.a_run("waits_for_payment")
        runs.drain()

    assert runs.facts_of(run_id)["paid"] == {"sum": 1}
    assert the_row().sentence.startswith("Used by step wait of ")
    assert violations() == []


def test_one_that_comes_twice_is_used_once_and_the_second_is_counted() -> None:
    with waits_for_payment():
        run_id = a_waiting_run()
        became = [runs.deliver("order.paid", ORDER, {"sum": 1}, message_id="m") for _ in range(3)]
        runs.drain()

    assert became == ["used", "duplicate", "duplicate"]
    assert (runs.state_of(run_id), the_row().event.repeats) == ("succeeded", 2)
    assert "came 2 more times" in the_row().sentence
    assert violations() == []


def test_the_same_message_id_with_other_content_changes_nothing_and_is_told() -> None:
    with waits_for_payment():
        run_id = a_waiting_run()
        assert runs.deliver("order.paid", ORDER, {"sum": 1}, message_id="m") == "used"
        assert runs.deliver("order.paid", ORDER, {"sum": 2}, message_id="m") == "conflict"
        assert runs.deliver("order.paid", "order-8", {"sum": 1}, message_id="m") == "conflict"
        runs.drain()

    assert runs.facts_of(run_id)["paid"] == {"sum": 1}
    assert AuditEvent.objects.filter(kind="event.conflict").count() == 2
    assert the_row().event.conflicts == 2
    assert violations() == []


@pytest.mark.parametrize(("on_expiry", "ends"), [("fail", "failed"), ("cancel", "cancelled")])
def test_one_that_comes_after_the_expiry_is_late_and_says_for_whom(
    on_expiry: str, ends: str
) -> None:
    with waits_for_payment(expires=timedelta(minutes=5), on_expiry=on_expiry):
        run_id = a_waiting_run()
        runs.let_it_be_due(run_id)
        assert runs.state_of(run_id) == ends
        assert runs.deliver("order.paid", ORDER, {"sum": 1}) == "late"

    late = AuditEvent.objects.get(kind="event.late")
    # A final run's chain is closed, so what comes for it stands in its tenant's (R37).
    assert late.run_id == (run_id if ends == "failed" else None)
    assert (the_row().which, the_row().run.pk) == ("late", run_id)
    assert "It came late: the wait of" in the_row().sentence
    assert violations() == []


def test_a_late_one_is_used_when_the_failed_run_is_resumed() -> None:
    with waits_for_payment(expires=timedelta(minutes=5)):
        run_id = a_waiting_run()
        runs.let_it_be_due(run_id)
        assert runs.deliver("order.paid", ORDER, {"sum": 1}) == "late"
        resuming.resume(runs.the_operator(), run_id, because="it has come")
        runs.drain()

    assert (runs.state_of(run_id), the_row().which) == ("succeeded", "used")
    assert "after it had come too late at first" in the_row().sentence
    assert violations() == []


def test_one_for_a_cancelled_run_changes_nothing_of_it() -> None:
    """I10, R37"""
    with waits_for_payment():
        run_id = a_waiting_run()
        lifecycle.cancel(runs.the_operator(), run_id, because="not wanted")
        assert runs.deliver("order.paid", ORDER, {"sum": 1}) == "late"

    assert runs.state_of(run_id) == "cancelled"
    assert Wait.objects.get(run_id=run_id).state == "withdrawn"
    assert "was withdrawn (cancelled)" in the_row().sentence
    assert violations() == []


def test_one_that_is_kept_beside_an_open_wait_is_found_by_the_watch() -> None:
    """R14: should the two have passed each other all the same."""
    with waits_for_payment(correlation="order-8"):
        run_id = a_waiting_run()
        assert runs.deliver("order.paid", ORDER, {"sum": 1}) == "kept"
        Event.objects.update(correlation_id="order-8")

        Clockwork().go_round()
        runs.drain()

    assert runs.state_of(run_id) == "succeeded"
    assert violations() == []


def test_of_two_runs_that_wait_for_the_same_the_older_wait_gets_it() -> None:
    with waits_for_payment():
        first, second = a_waiting_run(), a_waiting_run()
        assert runs.deliver("order.paid", ORDER, {"sum": 1}) == "used"
        runs.drain()

    assert (runs.state_of(first), runs.state_of(second)) == ("succeeded", "waiting")
    assert violations() == []
