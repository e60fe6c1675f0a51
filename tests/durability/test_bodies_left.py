"""How a body is made to leave: parked, stopped behind its step, refused to go back, rolled back."""

from typing import Any

import pytest
from django.db import connection

from runs.definition import Workflow, registry, step
from runs.definition.context import Cursor
from runs.engine import turning
from runs.ledger import lifecycle, pausing
from runs.models import AuditEvent
from runs.queries.verify import violations
from tests.effects.shop import one_step
from tests.support import runs

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("_no_desk")]


def test_a_body_that_catches_every_error_does_not_catch_being_parked() -> None:
    """R13"""
    went_on: list[str] = []

    def body(run: Any) -> None:
        try:
            run.ask("first", question="May it?")
        except Exception as error:  # noqa: BLE001
            went_on.append(str(error))

    with one_step(body) as errand:
        run_id = runs.a_run(errand)
        runs.drain()

    assert (runs.state_of(run_id), went_on) == ("waiting", [])


@pytest.mark.parametrize("verb", ["pause", "cancel"])
def test_the_step_behind_the_one_that_was_to_be_the_last_does_not_begin(verb: str) -> None:
    """R17: its start depends on the flags, in the same statement."""
    with registry.isolated():

        class Two(Workflow):
            name, version = "two", 1

            @step(writes=["a"])
            def first(self, run: Any) -> None:
                how = {"pause": pausing.pause, "cancel": lifecycle.cancel}[verb]
                how(runs.the_operator(), run.id, because="enough")
                run.write("a", 1)

            @step(reads=["a"], writes=["b"])
            def second(self, run: Any) -> None:
                run.write("b", 1)

        run_id = runs.a_run(Two)
        runs.drain()

    behind = runs.the_step(run_id, "second")
    assert runs.state_of(run_id) == {"pause": "paused", "cancel": "cancelled"}[verb]
    assert (behind.attempt, behind.started_at) == (0, None)
    assert not AuditEvent.objects.filter(kind="step.started", step="second").exists()
    assert violations([run_id]) == []


def test_a_cursor_that_goes_back_is_refused_by_its_ordinal_whatever_its_token_says() -> None:
    """R38"""

    def body(run: Any) -> None:
        for ordinal, token in ((2, "a"), (1, "z")):
            with run.checkpoint(cursor=Cursor(ordinal=ordinal, token=token)):
                pass

    with one_step(body, on_exhausted="stop") as errand:
        run_id = runs.a_run(errand)
        assert runs.work_through(run_id) == "failed"

    assert "CursorWentBack" in runs.the_run(run_id).reason
    assert runs.the_step(run_id, "do").cursor_ordinal == 2
    assert violations([run_id]) == []


def test_on_sqlite_a_transactional_body_that_takes_too_long_is_rolled_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """R29"""
    monkeypatch.setattr(turning, "LONGEST_ON_SQLITE", 0.0)

    with one_step(lambda run: None, transactional=True, on_exhausted="stop") as errand:
        run_id = runs.a_run(errand)
        runs.work_through(run_id)

    refused = "TransactionTooLong" in runs.the_run(run_id).reason
    assert refused == (connection.vendor == "sqlite")
