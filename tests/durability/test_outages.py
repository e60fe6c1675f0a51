"""The database is away, or locked, in the middle of a step: the run goes on by itself."""

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit
from uuid import UUID

import pytest
from django.db import OperationalError, connection

from runs.models import Call, Run
from tests.durability.cuttable import Line, a_line
from tests.durability.plant import Plant, lines_in
from tests.effects.test_calls_killed import happened_once
from tests.inbox import driving
from tests.support.postgresql import PostgresServer
from tests.support.waiting import eventually, is_open

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


@pytest.fixture(autouse=True)
def _long_leases(own_plant: Plant) -> None:
    """So long that nobody loses one during an outage, however slow the machine is afterwards."""
    own_plant.site.settings["LEASE_SECONDS"] = "45"


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
    run_id, lines, gate = on_its_way(own_plant)

    with away(line, seconds=4 if line else 9):
        gate.touch()

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


def on_its_way(plant: Plant) -> tuple[UUID, Path, Path]:
    """In the middle of its second step, which ends when its gate is there."""
    lines, gate = plant.scratch(), plant.scratch("gate")
    run_id = plant.start("lines_thrice", lines=str(lines), gate=str(gate))
    plant.eventually(lambda: Run.objects.get(pk=run_id).step == "second", "it is on its way")
    return run_id, lines, gate


def goes_on(plant: Plant, run_id: UUID, lines: Path) -> None:
    """By itself, each step once, and new work is done as before."""
    plant.until(run_id, "succeeded")
    assert [line[1] for line in lines_in(lines)].count("first") == 1
    new = plant.start("lines_thrice", lines=str(lines))
    plant.until(new, "succeeded")
    assert plant.deaths_of(run_id) == 0


def stopped(server: PostgresServer, *, seconds: float, gate: Path) -> None:
    """The server ends with every connection, and is started again after a while."""
    connection.close()
    assert server.process is not None
    assert server.launch is not None
    server.process.send_signal(signal.SIGINT)
    server.process.wait()
    gate.touch()
    time.sleep(seconds)
    server.process = server.launch()
    eventually(lambda: is_open(server.port), what="the server is up again")
    eventually(_answers, what="it answers")


def _answers() -> bool:
    try:
        connection.ensure_connection()
    except OperationalError:
        return False
    return True


def test_workers_and_watch_go_on_when_the_server_was_restarted(
    own_plant: Plant, request: pytest.FixtureRequest
) -> None:
    """R25: every session ended with the server, every lock is free, and nobody is taken for dead."""
    if connection.vendor == "sqlite":
        return
    server: PostgresServer = request.getfixturevalue("postgresql_server")
    if server.launch is None:
        return
    watch, cluster = own_plant.watch(), own_plant.cluster()
    run_id, lines, gate = on_its_way(own_plant)

    stopped(server, seconds=2, gate=gate)

    goes_on(own_plant, run_id, lines)
    assert (watch.process.poll(), cluster.process.poll()) == (None, None)


@pytest.mark.long
@pytest.mark.timeout(400)
def test_they_go_on_after_minutes_without_a_database(
    own_plant: Plant, request: pytest.FixtureRequest
) -> None:
    """R25"""
    own_plant.watch()
    own_plant.cluster()
    run_id, lines, gate = on_its_way(own_plant)

    if connection.vendor == "sqlite":
        with away(None, seconds=130):
            gate.touch()
    else:
        stopped(request.getfixturevalue("postgresql_server"), seconds=130, gate=gate)

    goes_on(own_plant, run_id, lines)
