"""A ping on SQLite: one immediate transaction that reads the row, updates it, and inserts the ping.

Written as plain statements, because the ORM would take more time over them than SQLite does.
"""

from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper

from monitors.rules.filters import filters_from
from monitors.rules.pinging import Given, Standing, Taken, take
from monitors.rules.received import Outcome, Received, next_by_cron
from runs.queries.clock import db_now
from runs.rules import canonical

COLUMNS = [field.name for field in fields(Standing)]
TIMES = {name for name in COLUMNS if name.endswith(("_at", "_since", "_until"))}
# What a ping changes; the rest is read alone.
CHANGED = [
    "state", "state_since", "seq", "n_pings", "paused_at", "last_ping_at", "last_start_at",
    "last_start_rid", "last_duration", "expected_at", "alert_at", "judge_at", "fence",
    "beat_number",
]  # fmt: skip
KEY_USED = """UPDATE monitors_pingkey SET last_used_at = %s
    WHERE digest = %s AND (last_used_at IS NULL OR last_used_at < datetime(%s, '-1 hour'))"""
KEY = """SELECT tenant_id FROM monitors_pingkey
    WHERE digest = %s AND (expires_at IS NULL OR expires_at > %s)"""
BY_SLUG = """SELECT code FROM monitors_monitor
    WHERE tenant_id = %s AND slug = %s AND removed_at IS NULL LIMIT 2"""
READ = f"""SELECT id, cron, zone, filters, {", ".join(COLUMNS)} FROM monitors_monitor
    WHERE code = %s AND removed_at IS NULL"""  # noqa: S608 - names of our own columns
STARTED = """SELECT at FROM monitors_ping WHERE monitor_id = %s AND rid = %s AND kind = 'start'
    AND suspicious = '' ORDER BY n DESC LIMIT 1"""
UPDATE = f"""UPDATE monitors_monitor SET {", ".join(f"{name} = %s" for name in CHANGED)}
    WHERE id = %s"""  # noqa: S608 - names of our own columns
INSERT = f"""INSERT INTO monitors_ping (monitor_id, n, kind, at, sent_at, rid, exit_status,
    duration, method, scheme, address, agent, body, body_size, fence, beat_number, suspicious)
    VALUES ({", ".join(["%s"] * 17)})"""  # noqa: S608
PRUNE = "DELETE FROM monitors_ping WHERE monitor_id = %s AND n <= %s"
PRUNED_EVERY = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    id: int
    cron: str
    zone: str
    filters: str
    standing: Standing


def ping(received: Received) -> Outcome:
    """See `ledger.pings.receive`."""
    with transaction.atomic(), connection.cursor() as cursor:
        now = db_now()
        code: UUID | None = received.code
        if code is None:
            found = _by_slug(cursor, received, now)
            if isinstance(found, Outcome):
                return found
            code = found
        row = _read(cursor, code)
        if row is None:
            return Outcome(what="unknown")
        taken = _take(cursor, row, received, now)
        _write(cursor, row, received, taken, now)
        return Outcome(what="taken", n=taken.after.n_pings, at=now)


def _by_slug(cursor: CursorWrapper, received: Received, now: datetime) -> UUID | Outcome:
    cursor.execute(KEY_USED, [_text(now), received.key_digest, _text(now)])
    cursor.execute(KEY, [received.key_digest, _text(now)])
    key = cursor.fetchone()
    if key is None:
        return Outcome(what="unknown")
    cursor.execute(BY_SLUG, [key[0], received.slug])
    codes = cursor.fetchall()
    if len(codes) != 1:
        return Outcome(what="ambiguous" if codes else "unknown", tenant_id=key[0])
    return UUID(codes[0][0])


def _read(cursor: CursorWrapper, code: UUID) -> _Row | None:
    cursor.execute(READ, [code.hex])
    found = cursor.fetchone()
    if found is None:
        return None
    pk, cron, zone, filters, *values = found
    told = {name: _read_as(name, value) for name, value in zip(COLUMNS, values, strict=True)}
    return _Row(id=pk, cron=cron, zone=zone, filters=filters, standing=Standing(**told))


def _take(cursor: CursorWrapper, row: _Row, received: Received, now: datetime) -> Taken:
    def started(rid: UUID) -> datetime | None:
        cursor.execute(STARTED, [row.id, rid.hex])
        found = cursor.fetchone()
        return _time(found[0]) if found else None

    filters = filters_from(canonical.loads(row.filters)) if row.filters != "{}" else None
    given = Given(
        kind=received.kind_under(filters) if filters else received.kind,
        at=now,
        method=received.method,
        rid=received.rid,
        beat=received.beat,
        sent_at=received.sent_at,
    )
    next_at = next_by_cron(row.cron, row.zone, after=now)
    return take(row.standing, given, next_at=next_at, started=started)


def _write(
    cursor: CursorWrapper, row: _Row, received: Received, taken: Taken, now: datetime
) -> None:
    changed = [_stored(getattr(taken.after, name)) for name in CHANGED]
    cursor.execute(UPDATE, [*changed, row.id])
    n, beat = taken.after.n_pings, received.beat
    told = [
        row.id,
        n,
        taken.kind.value,
        now,
        received.sent_at,
        received.rid,
        received.status,
        taken.duration,
        received.method,
        received.scheme,
        received.address,
        received.agent,
        received.body,
        received.size,
        beat.fence if beat else None,
        beat.number if beat else None,
        taken.suspicious,
    ]
    cursor.execute(INSERT, [_stored(value) for value in told])
    if n % PRUNED_EVERY == 0:
        cursor.execute(PRUNE, [row.id, n - received.kept])


def _read_as(name: str, value: Any) -> Any:
    if value is None:
        return None
    if name in TIMES:
        return _time(value)
    return UUID(value) if name == "last_start_rid" else value


def _stored(value: Any) -> Any:
    if isinstance(value, datetime):
        return _text(value)
    return value.hex if isinstance(value, UUID) else value


def _time(value: datetime) -> datetime:
    """The driver reads a column of times already, without saying that they are in UTC."""
    return value.replace(tzinfo=UTC)


def _text(value: datetime) -> str:
    """As Django writes times into SQLite."""
    return str(value.astimezone(UTC).replace(tzinfo=None))
