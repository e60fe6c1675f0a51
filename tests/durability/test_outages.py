"""The database is away, or locked, in the middle of a step: the run goes on by itself."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest
from django.db import connection

from runs.models import Call
from tests.durability.cuttable import Line, a_line
from tests.durability.plant import Plant, lines_in
from tests.effects.test_calls_killed import happened_once
from tests.inbox import driving

pytestmark = pytest.mark.processes


@pytest.fixture
def line(own_plant: Plant) -> Iterator[Line | None]:
    """What the plant's programs reach PostgreSQL through; SQLite has no line to cut."""
    if connection.vendor == "sqlite":
        yield None
        return
    url = urlsplit(own_plant.site.database_url)
    with a_line(host=str(url.hostname), port=int(url.port or 5432)) as made:
        own_plant.site.database_url = url._replace(
            netloc=url.netloc.replace(f":{url.port}", f":{made.port}")
        ).geturl()
        yield made


@contextmanager
def away(line: Line | None, *, seconds: float) -> Iterator[None]:
    """There is no line to PostgreSQL; on SQLite somebody holds the write lock."""
    if line is not None:
        line.cut()
        yield
        time.sleep(seconds)
        line.mend()
        return
    with connection.cursor() as cursor:
        cursor.execute("BEGIN IMMEDIATE")
        yield
        time.sleep(seconds)
        cursor.execute("ROLLBACK")


def test_a_run_goes_on_after_the_database_was_away(own_plant: Plant, line: Line | None) -> None:
    own_plant.watch()
    own_plant.cluster()
    lines = own_plant.scratch()
    run_id = own_plant.start("lines_thrice", lines=str(lines), pause=0.5)
    own_plant.eventually(lambda: lines_in(lines), "the run is on its way")

    with away(line, seconds=4 if line else 9):
        pass

    own_plant.until(run_id, "succeeded")
    assert [each for each in ("first", "second", "third") if each in str(lines_in(lines))] == [
        "first",
        "second",
        "third",
    ]
    assert own_plant.deaths_of(run_id) == 0
    new = own_plant.start("lines_thrice", lines=str(lines))
    own_plant.until(new, "succeeded")


def test_a_call_under_way_while_the_database_goes_happens_once(
    own_plant: Plant, line: Line | None
) -> None:
    own_plant.watch()
    own_plant.cluster()
    receiver = own_plant.scratch("receiver")
    run_id = own_plant.start("example_call_contract", receiver=str(receiver), after_effect=1.0)
    own_plant.eventually(receiver.exists, "the call is under way")

    with away(line, seconds=4):
        pass

    own_plant.until(run_id, "succeeded")
    assert happened_once(run_id, receiver)
    assert Call.objects.get(run_id=run_id).state == "confirmed"
    assert own_plant.deaths_of(run_id) == 0


def test_a_start_and_an_answer_given_meanwhile_are_done_afterwards(
    own_plant: Plant, line: Line | None
) -> None:
    own_plant.watch()
    own_plant.cluster()
    run_id = own_plant.start("example_ask")
    own_plant.until_asked(run_id, "question")
    if line is None:
        driving.respond(run_id, "yes")
        own_plant.until(run_id, "succeeded")
        return

    with away(line, seconds=4):
        driving.respond(run_id, "yes")
        new = own_plant.start("example_log")

    own_plant.until(run_id, "succeeded")
    own_plant.until(new, "succeeded")
