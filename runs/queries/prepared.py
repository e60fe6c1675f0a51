"""Statements that are asked thousands of times a second, planned once on each connection."""

import itertools
import re
from collections.abc import Sequence
from hashlib import sha256
from typing import Any
from weakref import WeakSet

import psycopg
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.utils import CursorWrapper
from psycopg.adapt import Transformer
from psycopg.errors import error_from_result
from psycopg.pq import ConnStatus, DiagnosticField, ExecStatus, TransactionStatus

# PostgreSQL's codes for a prepared statement that this session does not have, and already has.
UNKNOWN_STATEMENT, STATEMENT_IS_THERE = b"26000", b"42P05"


def prepared_cursor() -> CursorWrapper:
    """On PostgreSQL a cursor that binds on the server, where these few statements are prepared."""
    database = connections[DEFAULT_DB_ALIAS]  # once: `connection` looks it up for every word
    if database.vendor != "postgresql":
        return database.cursor()
    database.ensure_connection()
    database.connection.prepare_threshold = 1
    return CursorWrapper(psycopg.Cursor(database.connection), database)


class Prepared:
    """One statement of PostgreSQL's that answers at most one row.

    By itself it is one round trip, and a transaction; it then goes to libpq straight, because a
    cursor's own work on both sides of it takes a twelfth of the time of a step's whole commit.
    Inside a transaction, and where statements are counted or logged, it is asked by a cursor.
    Signals of this process are acted on when it is answered, so it may not wait for long.
    """

    def __init__(self, sql: str) -> None:
        self.sql, places = sql, itertools.count(1)
        self._numbered = re.sub("%s", lambda _: f"${next(places)}", sql).encode()
        self._name = b"milepost_" + sha256(self._numbered).hexdigest()[:16].encode()
        self._known_to: WeakSet[Any] = WeakSet()

    def one(self, values: Sequence[Any]) -> tuple[Any, ...] | None:
        """The row, None where there is none. Raises Django's database errors."""
        database = connections[DEFAULT_DB_ALIAS]
        database.ensure_connection()
        if _is_by_itself(database):
            with database.wrap_database_errors:
                return self._ask(database.connection, values)
        with prepared_cursor() as cursor:
            cursor.execute(self.sql, values)
            row: tuple[Any, ...] | None = cursor.fetchone()
            return row

    def _ask(self, session: Any, values: Sequence[Any]) -> tuple[Any, ...] | None:
        given = [None if value is None else str(value).encode() for value in values]
        if b"\0" in b"".join(text for text in given if text):
            raise psycopg.DataError("PostgreSQL text cannot hold NUL (0x00); take it out.")
        answer = self._execute(session, given)
        if answer.status != ExecStatus.TUPLES_OK:
            raise _error(session, answer)
        if not answer.ntuples:
            return None
        reader = Transformer(session)
        reader.set_pgresult(answer)
        return reader.load_row(0, tuple)

    def _execute(self, session: Any, given: list[bytes | None]) -> Any:
        if session in self._known_to:
            answer = session.pgconn.exec_prepared(self._name, given)
            # The driver forgets what is prepared whenever something is rolled back.
            if answer.error_field(DiagnosticField.SQLSTATE) != UNKNOWN_STATEMENT:
                return answer
        made = session.pgconn.prepare(self._name, self._numbered)
        is_there = made.error_field(DiagnosticField.SQLSTATE) == STATEMENT_IS_THERE
        if made.status != ExecStatus.COMMAND_OK and not is_there:
            raise _error(session, made)
        self._known_to.add(session)
        return session.pgconn.exec_prepared(self._name, given)


def is_watched(database: Any) -> bool:
    """Whether somebody counts or logs what goes through Django's cursors."""
    return bool(database.execute_wrappers or database.queries_logged)


def _is_by_itself(database: Any) -> bool:
    if database.in_atomic_block or is_watched(database):
        return False
    # Not IDLE: a statement was cut off, or somebody else's transaction is open; the driver knows.
    return bool(database.connection.pgconn.transaction_status == TransactionStatus.IDLE)


def _error(session: Any, answer: Any) -> psycopg.Error:
    # Without a code it is libpq that speaks: the server may have committed all the same.
    coded = answer.error_field(DiagnosticField.SQLSTATE)
    if session.pgconn.status != ConnStatus.OK or not coded:
        return psycopg.OperationalError(answer.get_error_message())
    return error_from_result(answer)
