"""A real PostgreSQL for tests: the one in TEST_DATABASE_URL, else one started for this session."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest
from django.db import connection
from django.db.backends.postgresql.operations import DatabaseOperations

from runs.management.scratch_postgresql import (
    NoPostgreSQL,
    PostgresServer,
    own_server,
    server_at,
)
from tests.support.absent import absent

__all__ = ["PostgresServer", "flush_quickly", "postgresql"]

# Durable in the eyes of the checks at start, quick because a test's data may be lost.
QUICK = (
    "fsync=off",
    "full_page_writes=off",
    "max_connections=200",
    "wal_level=minimal",
    "max_wal_senders=0",
)


@contextmanager
def postgresql() -> Iterator[PostgresServer]:
    """The server of this session; absent, loudly, where none can be had."""
    if url := os.environ.get("TEST_DATABASE_URL"):
        yield server_at(url)
        return
    with ExitStack() as stack:
        try:
            server = stack.enter_context(own_server(QUICK))
        except NoPostgreSQL as why:
            raise absent("postgresql", because=f"no TEST_DATABASE_URL, and: {why}") from None
        yield server


def flush_quickly(patch: pytest.MonkeyPatch) -> None:
    """Empty tables by DELETE: they hold few rows, and TRUNCATE makes new files for each of them.

    Only a superuser may leave foreign keys out of it; for others all stays as it is.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('is_superuser')")
        if cursor.fetchone()[0] == "on":
            patch.setattr(DatabaseOperations, "sql_flush", _deletions)


def _deletions(_ops: object, _style: object, tables: list[str], **_options: bool) -> list[str]:
    return [
        "SET LOCAL session_replication_role = replica",
        *(f'DELETE FROM "{table}"' for table in tables),
        "SET LOCAL session_replication_role = DEFAULT",
    ]
