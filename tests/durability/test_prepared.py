"""A statement that goes to PostgreSQL without a cursor behaves as with one, whatever was done on its session."""

from typing import Any

import pytest
from django.db import (
    DataError,
    IntegrityError,
    OperationalError,
    ProgrammingError,
    connection,
    transaction,
)

from runs.queries.prepared import Prepared, prepared_cursor

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(
        "connection.vendor != 'postgresql'", reason="PostgreSQL prepares statements"
    ),
]

TWICE = Prepared("SELECT %s::int * 2 AS twice, %s::text AS said WHERE %s::boolean")


@pytest.fixture(autouse=True)
def straight(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How often a statement went to libpq straight."""
    asked: list[int] = []
    ask = Prepared._ask

    def noted(self: Prepared, *given: Any) -> Any:
        asked.append(1)
        return ask(self, *given)

    monkeypatch.setattr(Prepared, "_ask", noted)
    return asked


def test_it_answers_its_row_in_the_types_of_python_or_none(straight: list[int]) -> None:
    assert TWICE.one([21, "so", True]) == (42, "so")
    assert TWICE.one([21, None, True]) == (42, None)
    assert TWICE.one([21, "so", False]) is None
    assert len(straight) == 3


def test_inside_a_transaction_it_is_part_of_it(straight: list[int]) -> None:
    with transaction.atomic():
        assert TWICE.one([4, "so", True]) == (8, "so")
    assert straight == []


def test_it_is_prepared_again_after_the_session_has_forgotten_it() -> None:
    TWICE.one([1, "", True])
    with connection.cursor() as cursor:
        cursor.execute("DEALLOCATE ALL")

    assert TWICE.one([2, "so", True]) == (4, "so")


def test_it_is_prepared_again_after_a_rollback() -> None:
    TWICE.one([1, "", True])
    with prepared_cursor() as cursor:
        cursor.execute("SELECT %s::int", [1])
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT 1")
        transaction.set_rollback(True)

    assert TWICE.one([2, "so", True]) == (4, "so")
    assert TWICE.one([3, "so", True]) == (6, "so")


def test_a_statement_of_that_name_that_is_there_already_is_it() -> None:
    """An interruption may have come between its making and its being noted."""
    TWICE.one([1, "", True])
    TWICE._known_to.clear()

    assert TWICE.one([2, "so", True]) == (4, "so")


def test_errors_are_those_of_django() -> None:
    with pytest.raises(DataError):
        Prepared("SELECT 1 / %s::int").one([0])
    with pytest.raises(ProgrammingError):
        Prepared("SELECT %s::int FROM no_such_table").one([0])
    with pytest.raises(DataError, match="NUL"):
        TWICE.one([1, "a\0b", True])
    with pytest.raises(IntegrityError):
        Prepared(
            "INSERT INTO runs_tenant (slug, name) SELECT slug, %s::text FROM"
            " (VALUES ('twice'), ('twice')) AS two(slug) RETURNING id"
        ).one(["x"])

    assert TWICE.one([2, "so", True]) == (4, "so")


def test_a_session_that_was_ended_is_away_and_the_next_one_answers() -> None:
    TWICE.one([1, "", True])
    with pytest.raises(OperationalError):
        Prepared("SELECT pg_terminate_backend(pg_backend_pid()) WHERE %s::boolean").one([True])
    connection.close()

    assert TWICE.one([2, "so", True]) == (4, "so")


def test_somebody_elses_open_transaction_is_left_to_the_driver(straight: list[int]) -> None:
    connection.ensure_connection()
    raw = connection.connection
    raw.pgconn.exec_(b"BEGIN")

    assert TWICE.one([2, "so", True]) == (4, "so")
    assert straight == []
    raw.pgconn.exec_(b"ROLLBACK")
