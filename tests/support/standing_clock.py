"""The database's clock stands still but for what a test moves it by, however long the test itself takes."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from types import SimpleNamespace

import pytest
from django.db import connection

from monitors.ledger import postgresql as of_monitors
from runs.ledger import postgresql as of_runs
from runs.queries import clock

READS_IT = "clock_timestamp()"


@contextmanager
def a_standing_clock(patch: pytest.MonkeyPatch) -> Iterator[None]:
    """Here, and in the functions inside PostgreSQL; CLOCK_OFFSET_SECONDS moves both."""
    stands = clock.db_now()
    with patch.context() as stopped:
        stopped.setattr(clock, "datetime", _a_clock_at(stands))
        # SQLite's way of asking: the process knows what time it is.
        stopped.setattr(clock, "connection", SimpleNamespace(vendor="sqlite"))
        _make_functions(f"timestamptz '{stands.isoformat()}'")
        try:
            yield
        finally:
            _make_functions(READS_IT)


def _a_clock_at(stands: datetime) -> SimpleNamespace:
    return SimpleNamespace(now=lambda _zone: stands)


def _make_functions(now: str) -> None:
    if connection.vendor != "postgresql":
        return
    with connection.cursor() as cursor:
        for functions in (of_runs.FUNCTIONS, of_monitors.FUNCTIONS):
            text = functions.read_text(encoding="utf-8")
            assert READS_IT in text
            cursor.execute(text.replace(READS_IT, now))
