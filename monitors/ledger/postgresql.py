"""A ping on PostgreSQL: one call of one function, one round trip, one commit.

The function is made again after every migration, as those of `runs` are (R20).
"""

from pathlib import Path
from typing import Any

from django.db import InterfaceError, OperationalError, connection
from django.db.backends.base.base import BaseDatabaseWrapper

from monitors.rules.received import Outcome, Received, Terms
from runs.conf import conf
from runs.queries.prepared import Prepared

FUNCTIONS = Path(__file__).with_name("postgresql.sql")
# Room on each page for the next version of a row: a ping updates no index, so it stays there.
FILL = {"monitors_monitor": 30}
PING = Prepared(f"SELECT * FROM monitors_ping({', '.join(['%s'] * 20)})")  # noqa: S608 - twenty placeholders


def install(database: BaseDatabaseWrapper) -> None:
    """Make the function again, in its present form."""
    with database.cursor() as cursor:
        cursor.execute(FUNCTIONS.read_text(encoding="utf-8"))
        for table, percent in FILL.items():
            cursor.execute(f"ALTER TABLE {table} SET (fillfactor = {percent})")


def ping(received: Received, *, terms: Terms | None) -> Outcome:
    """See `ledger.pings.receive`."""
    beat = received.beat
    given = [
        received.code,
        received.key_digest,
        received.slug,
        (terms.kind if terms else received.kind).value,
        received.rid,
        received.status,
        received.sent_at,
        beat.fence if beat else None,
        beat.number if beat else None,
        received.method,
        received.scheme,
        received.address,
        received.agent,
        rf"\x{received.body.hex()}",
        received.size,
        received.kept,
        terms.revision if terms else None,
        terms.at if terms else None,
        terms.next_at if terms else None,
        f"{conf().clock_offset.total_seconds()} s",
    ]
    outcome, n, at, revision, cron, zone, filters, tenant = _asked(given)
    return Outcome(
        what=outcome,
        n=n,
        at=at,
        revision=revision,
        cron=cron or "",
        zone=zone or "",
        filters=filters or "",
        tenant_id=tenant,
    )


def _asked(given: list[Any]) -> Any:
    # Asking the connection whether it lives would be a second round trip: it is found out by use.
    connection.health_check_done = True  # type: ignore[attr-defined]
    try:
        return PING.one(given)
    except (OperationalError, InterfaceError):
        if connection.in_atomic_block or connection.is_usable():
            raise
        connection.close()
        return PING.one(given)
