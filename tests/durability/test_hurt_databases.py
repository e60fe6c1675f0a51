"""A database that takes no writes for a while, for its disk or by order, loses nothing and says why."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest
from django.db import connection, transaction

from runs.definition import Workflow, registry, step
from runs.engine.clockwork import Clockwork
from runs.models import Wait
from runs.queries.clock import db_now
from runs.queries.verify import violations
from tests.durability import whole_runs
from tests.support import runs

pytestmark = pytest.mark.django_db(transaction=True)

# What a body does to its own session, until that is closed, as the engine does before it tries again.
HURT = {
    ("sqlite", "full"): ("PRAGMA max_page_count = {pages}",),
    ("sqlite", "read-only"): ("PRAGMA query_only = ON",),
    ("postgresql", "full"): ("SET milepost.disk_is_full = 'on'",),
    ("postgresql", "read-only"): ("SET default_transaction_read_only = on",),
}
SAYS = {"full": "full", "read-only": "read"}
# PostgreSQL says 53100 when it cannot write a page; here a trigger says it for one session.
FULL = """
CREATE OR REPLACE FUNCTION is_full() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF current_setting('milepost.disk_is_full', true) = 'on' THEN
        RAISE EXCEPTION 'could not extend file: No space left on device, the disk is full'
            USING ERRCODE = '53100';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER disk_is_full BEFORE INSERT ON runs_checkpoint
    FOR EACH ROW EXECUTE FUNCTION is_full();
"""
EMPTY = "DROP TRIGGER IF EXISTS disk_is_full ON runs_checkpoint"
ENTERED: list[int] = []


@pytest.fixture(autouse=True)
def _disk() -> Iterator[None]:
    ENTERED.clear()
    if connection.vendor == "postgresql":
        _say(FULL)
    with registry.isolated():
        yield
    connection.close()
    if connection.vendor == "postgresql":
        _say(EMPTY)


def _say(statement: str) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)


def hurt(how: str) -> None:
    with connection.cursor() as cursor:
        pages = 0
        if connection.vendor == "sqlite":
            # No page is free that could still be filled.
            cursor.execute("VACUUM")
            pages = cursor.execute("PRAGMA page_count").fetchone()[0]
        for statement in HURT[connection.vendor, how]:
            cursor.execute(statement.format(pages=pages))


def a_run_hurt_at_its_first_attempt(how: str) -> UUID:
    class Writes(Workflow):
        name, version = f"writes_{how.replace('-', '_')}", 1

        @step(writes=["first"])
        def begin(self, run: Any) -> None:
            run.write("first", "kept")

        @step(writes=["second"])
        def much(self, run: Any) -> None:
            ENTERED.append(run.attempt)
            if len(ENTERED) == 1:
                hurt(how)
            run.write("second", "x" * 200_000)

        @step(writes=["third"])
        def last(self, run: Any) -> None:
            run.write("third", "kept")

    return runs.a_run(Writes)


@pytest.mark.parametrize("how", ["full", "read-only"])
def test_a_run_goes_on_by_itself_when_writes_are_taken_again(
    how: str, caplog: pytest.LogCaptureFixture
) -> None:
    run_id = a_run_hurt_at_its_first_attempt(how)

    assert runs.work_through(run_id) == "succeeded"

    assert runs.facts_of(run_id)["first"] == "kept"
    assert ENTERED == [1, 2]
    assert runs.the_step(run_id, "much").failures == 0
    (told,) = [each for each in caplog.records if each.message == "run.database_away"]
    assert SAYS[how] in told.__dict__["error"]
    assert violations([run_id]) == []


def test_the_clockwork_says_why_it_could_not_go_round_and_goes_round_later(
    caplog: pytest.LogCaptureFixture,
) -> None:
    asleep = runs.a_run(whole_runs.a_nap())
    runs.drain()
    Wait.objects.filter(run_id=asleep).update(due_at=db_now())
    works = Clockwork()
    hurt("read-only")

    works.go_round()

    (told,) = [each for each in caplog.records if each.message == "clockwork.database_away"]
    assert "read" in told.__dict__["error"]
    assert runs.state_of(asleep) == "waiting"
    # That pass has closed its connection: the next one finds a database that takes writes.
    works.go_round()
    assert runs.state_of(asleep) == "queued"
    assert violations([asleep]) == []
