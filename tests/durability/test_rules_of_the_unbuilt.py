"""What is not there is refused, not half done: fan-out (R15), a second database in one commit (R29)."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connections

from runs.definition import Workflow, registry, step
from runs.definition.places import DeclarationError
from runs.queries.verify import violations
from tests.support import runs

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _workflows() -> Iterator[None]:
    with registry.isolated():
        yield


@pytest.fixture
def _two_databases(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    sqlite = {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:", "OPTIONS": {}}
    monkeypatch.setitem(
        connections.settings, "other", {**connections.settings["default"], **sqlite}
    )
    connections["other"].connect()
    yield
    connections["other"].close()
    del connections["other"]


def test_a_fan_out_is_refused_as_long_as_nothing_counts_its_children() -> None:
    """R15: the join would be a counter in one statement; there is none, so there is no fan-out."""
    with pytest.raises(DeclarationError, match="not available yet"):
        step(each="shards")(lambda self, run: None)


@pytest.mark.usefixtures("_two_databases")
def test_another_database_is_refused_inside_a_transactional_body() -> None:
    """R29: the two would not commit together. Outside of it there is nothing to refuse."""

    class Both(Workflow):
        name, version = "both", 1

        @step(writes=["before"])
        def before(self, run: Any) -> None:
            run.write("before", _ask_the_other())

        @step(writes=["inside"], transactional=True, on_exhausted="stop")
        def inside(self, run: Any) -> None:
            run.write("inside", _ask_the_other())

    run_id = runs.a_run(Both)
    runs.work_through(run_id)

    run = runs.the_run(run_id)
    assert run.state == "failed"
    assert "AnotherDatabase" in run.reason
    assert "used the database 'other' inside a transaction" in run.reason
    assert runs.facts_of(run_id) == {"before": 1}
    assert violations([run_id]) == []


@pytest.mark.usefixtures("_two_databases")
def test_another_database_is_refused_inside_the_body_of_a_checkpoint() -> None:
    """R29"""

    class Pages(Workflow):
        name, version = "pages_of_both", 1

        @step(writes=["n"], on_exhausted="stop")
        def turn(self, run: Any) -> None:
            for page in run.pages(range(2), size=1):
                with run.checkpoint(cursor=page.end):
                    _ask_the_other()
            run.write("n", 2)

    run_id = runs.a_run(Pages)
    runs.work_through(run_id)

    assert "AnotherDatabase" in runs.the_run(run_id).reason


def _ask_the_other() -> int:
    with connections["other"].cursor() as cursor:
        cursor.execute("SELECT 1")
        return int(cursor.fetchone()[0])
