"""What time it is: the database's clock, never a worker's (R31)."""

from datetime import UTC, datetime

from django.db import connection

from runs.conf import conf


def db_now() -> datetime:
    """The database's present time.

    SQLite has no clock of its own: its `now` is that of the process that asks, on the one
    machine that holds the file, so asking it would only cost a statement and the microseconds.
    """
    if connection.vendor == "sqlite":
        return datetime.now(UTC) + conf().clock_offset
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        now: datetime = cursor.fetchone()[0]
    return now + conf().clock_offset
