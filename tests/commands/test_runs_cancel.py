"""`runs cancel`: at once, or at the next checkpoint; with a reason; never by guessing which run."""

import pytest
from django.contrib.auth.models import User

from runs.ledger import assignments
from runs.models import AuditEvent
from tests.commands.saying import manage
from tests.support import runs

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_run_that_waits_is_cancelled_at_once() -> None:
    run_id = runs.a_run("ask", reference="monday")
    runs.drain()

    said = manage("runs", "cancel", "monday", "--because", "not wanted", "--json")

    stands = {"id": str(run_id), "reference": "monday", "state": "cancelled"}
    assert said.json == {**stands, "in_doubt": []}
    assert runs.the_run(run_id).reason == "not wanted"


def test_the_audit_says_who_cancelled_and_why() -> None:
    run_id = runs.a_run("count")

    manage("runs", "cancel", run_id, "--because", "not wanted")

    event = AuditEvent.objects.get(run=run_id, kind="run.cancelled")
    assert event.body == '{"because":"not wanted"}'
    assert event.actor.startswith("local operator ")


def test_a_run_that_is_worked_on_is_asked_to_end_at_its_next_checkpoint() -> None:
    run_id = runs.a_run("count")
    with runs.a_worker() as worker:
        assert assignments.claim(worker_id=worker.id, plans=worker.plans)

        said = manage("runs", "cancel", run_id, "--because", "not wanted")

        assert "is running; it ends at its next checkpoint" in said.out
        assert runs.the_run(run_id).cancel_requested


def test_a_final_run_is_not_cancelled_again() -> None:
    run_id = runs.a_run("count")
    runs.drain()

    said = manage("runs", "cancel", run_id, "--because", "too late")

    assert said.code == 1
    assert "is succeeded and cannot become cancelled" in said.err


def test_a_reference_of_several_runs_cancels_none_of_them() -> None:
    ids = [runs.a_run("count", reference="daily") for _ in range(2)]

    said = manage("runs", "cancel", "daily", "--because", "not wanted")

    assert said.code == 2
    assert all(str(run_id) in said.err for run_id in ids)
    assert {runs.state_of(run_id) for run_id in ids} == {"queued"}


def test_a_reason_is_needed() -> None:
    run_id = runs.a_run("count")

    assert manage("runs", "cancel", run_id, "--because", "").code == 2
    assert runs.state_of(run_id) == "queued"


def test_a_user_without_the_permission_cancels_nothing() -> None:
    run_id = runs.a_run("count")
    User.objects.create_user("bob")

    said = manage("runs", "cancel", run_id, "--because", "I want to", "--as", "bob")

    assert said.code == 1
    assert "lacks the permission" in said.err
    assert runs.state_of(run_id) == "queued"
