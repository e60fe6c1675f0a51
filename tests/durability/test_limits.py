"""A step has its own limit: it is interrupted, or ended from outside, and goes on; transactions have theirs on SQLite."""

import pytest
from django.db import connection

from runs.models import Step
from runs.queries.limits import breaches_of
from tests.durability.plant import Plant, lines_in
from tests.inbox import driving

pytestmark = pytest.mark.processes


def test_a_step_past_its_timeout_is_interrupted_or_ended_from_outside(plant: Plant) -> None:
    """R26: one sleeps, one shrugs the interruption off, one holds the interpreter; all go on.

    One is lost in a regular expression, which looks for signals now and then: it is interrupted.
    """
    files = {how: plant.scratch() for how in ("sleeps", "shrugs", "holds", "matches")}
    started = {
        how: plant.start("limited", lines=str(lines), how=how) for how, lines in files.items()
    }

    for run_id in started.values():
        plant.until(run_id, "succeeded")

    assert {how: plant.deaths_of(run_id) for how, run_id in started.items()} == {
        "sleeps": 0,
        "shrugs": 1,
        "holds": 1,
        "matches": 0,
    }
    for how, run_id in started.items():
        assert len(lines_in(files[how])) == plant.attempts_of(run_id, "linger") == 2
        assert plant.is_sound(run_id)
        (told,) = [each.body for each in breaches_of(run_id)]
        assert (told["limit"], told["cause"]) == ("step timeout", "design")
        assert told["then"] == ("queued" if plant.deaths_of(run_id) else "waiting")


def test_a_statement_that_the_limit_cut_off_does_not_spoil_the_next_attempt(plant: Plant) -> None:
    """R26: the connection it was cut off on is not used again, and the failure is counted."""
    run_id = plant.start("asks_the_database", lines=str(plant.scratch()))

    plant.until(run_id, "succeeded")

    step = Step.objects.get(run_id=run_id)
    assert (step.attempt, step.failures, plant.deaths_of(run_id)) == (2, 1, 0)
    assert plant.is_sound(run_id)


def test_a_transaction_that_is_too_long_is_rolled_back_with_a_clear_error_on_sqlite(
    plant: Plant,
) -> None:
    """R29"""
    run_id = plant.start("keeps_the_lock", lines=str(plant.scratch()), seconds=2.2, always=True)

    if connection.vendor == "postgresql":
        plant.until(run_id, "succeeded")
        return
    asked = plant.until_asked(run_id, "give up")

    assert "on SQLite 2 s is the limit, because it has one writer" in asked.subject
    assert "TransactionTooLong" in asked.subject
    driving.respond(run_id, "stop")
    plant.until(run_id, "failed")
    assert plant.is_sound(run_id)
