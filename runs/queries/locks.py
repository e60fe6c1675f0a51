"""Which session locks the server still holds, read and never tried (R24); there are none on SQLite."""

from datetime import datetime

from django.db import connection

# A lock on one bigint shows as its two halves, with objsubid 1.
HELD = """
SELECT (classid::bigint << 32) | objid::bigint, pid FROM pg_locks
WHERE locktype = 'advisory' AND objsubid = 1 AND granted
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""


def held_locks() -> dict[int, int]:
    """The key of each advisory lock that some session holds, and the process of that session."""
    with connection.cursor() as cursor:
        cursor.execute(HELD)
        return {int(key): int(pid) for key, pid in cursor.fetchall()}


def holds_here(key: int) -> bool:
    """Whether this very session holds the lock; behind a transaction pooler it soon does not."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        here = int(cursor.fetchone()[0])
    return held_locks().get(key) == here


def server_started() -> datetime | None:
    """When the server was started: a restart frees every lock at once (R25)."""
    if connection.vendor != "postgresql":
        return None
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_postmaster_start_time()")
        at: datetime = cursor.fetchone()[0]
    return at
