"""The three hot commits on SQLite, as raw statements inside one IMMEDIATE transaction.

The ORM reaches a fifth of what the bare driver does here. Django's cursor rewrites each statement's
placeholders anew, which costs as much as SQLite does to execute it; so these few go to the driver.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import datetime
from functools import cache
from typing import Any
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS, connections, transaction
from django.db.backends.utils import CursorWrapper

from runs.conf import CHECKPOINT_SCHEMA
from runs.queries.clock import db_now
from runs.queries.prepared import is_watched
from runs.rules import canonical
from runs.rules.chain import Draft, link, new_salt, payload_digest
from runs.rules.claims import Advance, Advanced, Claimed, NextStep, RunDraft, claimed_from
from runs.rules.fence import Fence, FenceLost

# Read before the write transaction is opened, so that an idle worker takes no lock.
ANY_PLACED = "SELECT 1 FROM runs_assignment WHERE state = 'placed' LIMIT 1"
NEXT_PLACED = """
SELECT a.id, a.reason, r.id, r.tenant_id, r.fence, r.seq, r.head, r.workflow, r.version,
       r.plan_hash, r.reference, r.input, r.generation, r.checkpoint, r.cancel_requested,
       r.pause_requested, s.id, s.key, s.scope, s.ordinal, s.generation, s.attempt, s.failures,
       s.crashes, s.cursor_ordinal, s.cursor_token
FROM runs_assignment a
JOIN runs_run r ON r.id = a.run_id
JOIN runs_step s ON s.run_id = r.id AND s.key = r.step AND NOT s.superseded
WHERE a.state = 'placed' AND r.state = 'queued' AND r.plan_hash IN ({plans})
  AND EXISTS (SELECT 1 FROM runs_worker w WHERE w.id = %s AND w.state = 'live' AND NOT w.draining)
ORDER BY a.placed_at, a.id LIMIT 1
"""
CLAIM_RUN = """
UPDATE runs_run SET state = 'running', fence = %s, worker_id = %s, seq = %s, head = %s,
       updated_at = %s, started_at = COALESCE(started_at, %s)
WHERE id = %s AND state = 'queued' AND fence = %s
"""
CLAIM_ASSIGNMENT = """
UPDATE runs_assignment SET state = 'claimed', fence = %s, worker_id = %s, claimed_at = %s
WHERE id = %s AND state = 'placed'
"""
CLAIM_STEP = """
UPDATE runs_step SET state = 'running', attempt = %s, fence = %s,
       started_at = COALESCE(started_at, %s)
WHERE id = %s
"""
INSERT_EVENT = """
INSERT INTO runs_auditevent (tenant_id, run_id, seq, kind, step, fence, actor, at, body, salt,
                             payload_digest, prev, hash)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
"""
INSERT_RUN = """
INSERT INTO runs_run (id, tenant_id, workflow, version, plan_hash, reference, labels, start_key,
                      input, input_digest, started_by, step, step_ordinal, steps_total, head,
                      created_at, updated_at, state, reason, generation, cancel_requested,
                      pause_requested, fence, checkpoint, seq)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, 'queued', '', 1, 0, 0, 0,
        0, 1)
"""
PLACE = """
INSERT INTO runs_assignment (run_id, from_step, state, reason, outcome, placed_at)
VALUES (%s, %s, 'placed', 'start', '', %s)
"""
HOLD = """
SELECT tenant_id, seq, head, checkpoint, cancel_requested, pause_requested FROM runs_run
WHERE id = %s AND fence = %s AND worker_id = %s AND state = 'running'
"""
FINISH_STEP = """
UPDATE runs_step SET state = 'succeeded', facts = %s, facts_digest = %s, cursor_ordinal = %s,
       cursor_token = %s, ended_at = %s, error_class = '', error = '', fence = %s
WHERE run_id = %s AND key = %s AND generation = %s AND state = 'running'
"""
TURN_PAGE = """
UPDATE runs_step SET cursor_ordinal = %s, cursor_token = %s, fence = %s
WHERE run_id = %s AND key = %s AND generation = %s AND state = 'running'
"""
BEGIN_STEP = """
INSERT INTO runs_step (run_id, key, scope, ordinal, generation, superseded, state, attempt,
                       failures, crashes, fence, facts, facts_digest, cursor_ordinal,
                       cursor_token, started_at, error_class, error)
VALUES (%s, %s, %s, %s, %s, 0, %s, %s, 0, 0, %s, '{}', '', 0, '', %s, '', '')
"""
INSERT_CHECKPOINT = """
INSERT INTO runs_checkpoint (run_id, number, step, generation, finished, cursor_ordinal,
                             cursor_token, plan_hash, version, schema, fence, keys_count,
                             keys_digest, awaiting, output_digest, at)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, '', %s, %s)
"""
RELEASE = """
UPDATE runs_assignment SET state = 'released', outcome = %s, closed_at = %s WHERE id = %s
"""
ADVANCE_RUN = """
UPDATE runs_run SET seq = %s, head = %s, checkpoint = %s, updated_at = %s, step = %s,
       step_ordinal = COALESCE(%s, step_ordinal)
WHERE id = %s AND fence = %s
"""
END_RUN = """
UPDATE runs_run SET seq = %s, head = %s, checkpoint = %s, updated_at = %s, ended_at = %s,
       state = 'succeeded', worker_id = NULL, reason = %s
WHERE id = %s AND fence = %s
"""


@cache
def _with_marks(sql: str) -> str:
    return sql.replace("%s", "?")


class _Straight:
    """The driver's own cursor, which is given statements as Django's is."""

    def __init__(self, raw: sqlite3.Cursor) -> None:
        self.raw = raw

    def execute(self, sql: str, values: Sequence[Any] = ()) -> None:
        self.raw.execute(_with_marks(sql), values)

    def executemany(self, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        self.raw.executemany(_with_marks(sql), rows)

    def fetchone(self) -> Any:
        return self.raw.fetchone()

    @property
    def rowcount(self) -> int:
        return self.raw.rowcount

    @property
    def lastrowid(self) -> Any:
        return self.raw.lastrowid


Cursor = CursorWrapper | _Straight


@contextmanager
def _cursor() -> Iterator[Cursor]:
    """The driver's cursor, or Django's where statements are counted or logged."""
    database = connections[DEFAULT_DB_ALIAS]  # once: `connection` looks it up for every word
    if is_watched(database):
        with database.cursor() as cursor:
            yield cursor
        return
    database.ensure_connection()
    with database.wrap_database_errors, closing(database.connection.cursor()) as raw:
        yield _Straight(raw)


@contextmanager
def _transaction() -> Iterator[Cursor]:
    """One transaction, the driver's own, or a part of the one that is open."""
    database = connections[DEFAULT_DB_ALIAS]
    if database.in_atomic_block or is_watched(database):
        with transaction.atomic(), database.cursor() as cursor:
            yield cursor
        return
    with _cursor() as cursor:
        session: Any = database.connection
        if session.in_transaction:
            yield cursor
            return
        cursor.execute("BEGIN IMMEDIATE")
        try:
            yield cursor
            cursor.execute("COMMIT")
        finally:
            if session.in_transaction:
                cursor.execute("ROLLBACK")


def start(draft: RunDraft, *, tenant_id: int) -> int:
    """See `ledger.lifecycle.start`, in whose transaction this is."""
    with _cursor() as cursor:
        now, run = db_now(), draft.id.hex
        at = _text(now)
        chain = _Chain(cursor, tenant_id, run, 0, draft.started_by, 0, "", now)
        chain.add(Draft(kind="run.started", body=draft.body))
        identity: list[Any] = [run, tenant_id, draft.workflow, draft.version, draft.plan_hash]
        given: list[Any] = [
            draft.reference,
            draft.labels,
            draft.start_key,
            draft.input,
            draft.input_digest,
        ]
        place: list[Any] = [draft.started_by, draft.step.key, draft.step.ordinal, draft.steps_total]
        cursor.execute(INSERT_RUN, [*identity, *given, *place, chain.head, at, at])
        chain.write()
        step: list[Any] = [run, draft.step.key, draft.step.scope, draft.step.ordinal, 1]
        cursor.execute(BEGIN_STEP, [*step, "pending", 0, 0, None])
        cursor.execute(PLACE, [run, draft.step.key, at])
        placed: int = cursor.lastrowid
        return placed


def claim(*, worker_id: UUID, plans: Sequence[str]) -> Claimed | None:
    """See `ledger.assignments.claim`."""
    with _cursor() as cursor:
        cursor.execute(ANY_PLACED)
        if cursor.fetchone() is None or not plans:
            return None
    with _transaction() as cursor:
        marks = ", ".join(["%s"] * len(plans))
        cursor.execute(NEXT_PLACED.format(plans=marks), [*plans, worker_id.hex])
        row = cursor.fetchone()
        return None if row is None else _take(cursor, worker_id, row)


def _take(cursor: Cursor, worker_id: UUID, row: tuple[Any, ...]) -> Claimed:
    (assignment, reason, run, tenant, fence, seq, head, *_) = row
    now, number, attempt = db_now(), fence + 1, row[21] + 1
    chain = _Chain(cursor, tenant, run, number, str(worker_id), seq, head, now)
    begun = {"assignment": assignment, "reason": reason, "worker": str(worker_id)}
    chain.add(Draft(kind="run.claimed", body=canonical.dumps(begun)))
    chain.add(Draft(kind="step.started", step=row[17], body=canonical.dumps({"attempt": attempt})))
    # The run first: the guard on steps compares with its newest fence.
    at = _text(now)
    cursor.execute(CLAIM_RUN, [number, worker_id.hex, chain.seq, chain.head, at, at, run, fence])
    cursor.execute(CLAIM_ASSIGNMENT, [number, worker_id.hex, at, assignment])
    cursor.execute(CLAIM_STEP, [attempt, number, at, row[16]])
    chain.write()
    return claimed_from(row, worker_id=worker_id, number=number, attempt=attempt)


def advance(fence: Fence, change: Advance, then: Sequence[str] = ()) -> Advanced:
    """See `ledger.checkpoints.advance`."""
    run, worker = fence.run_id.hex, fence.worker_id.hex
    with _transaction() as cursor:
        cursor.execute(HOLD, [run, fence.number, worker])
        held = cursor.fetchone()
        if held is None:
            raise FenceLost(fence)
        tenant, seq, head, checkpoint, cancel, pause = held
        now, stop = db_now(), bool(cancel or pause)
        chain = _Chain(cursor, tenant, run, fence.number, str(fence.worker_id), seq, head, now)
        kept = change.events[:-1] if stop and change.next_step else change.events
        for draft in kept:
            chain.add(draft)
        at, number = _text(now), checkpoint + 1
        _write_step(cursor, fence, change, at)
        if change.next_step:
            _begin(cursor, fence, change.next_step, change.generation, stop, at)
        _write_checkpoint(cursor, fence, change, number, at)
        chain.write()
        _write_run(cursor, fence, change, chain, number, at)
        taken = claim(worker_id=fence.worker_id, plans=then) if then else None
    return Advanced(
        checkpoint=number,
        cancel_requested=bool(cancel),
        pause_requested=bool(pause),
        taken=taken,
    )


def _write_step(cursor: Cursor, fence: Fence, change: Advance, at: str) -> None:
    place: list[Any] = [fence.number, fence.run_id.hex, change.step, change.generation]
    cursor_at: list[Any] = [change.cursor_ordinal, change.cursor_token]
    if change.finished:
        result: list[Any] = [change.facts, change.facts_digest]
        cursor.execute(FINISH_STEP, [*result, *cursor_at, at, *place])
    else:
        cursor.execute(TURN_PAGE, [*cursor_at, *place])
    if cursor.rowcount != 1:
        raise FenceLost(fence)


def _begin(
    cursor: Cursor, fence: Fence, step: NextStep, generation: int, stop: bool, at: str
) -> None:
    state, attempt, started = ("pending", 0, None) if stop else ("running", 1, at)
    place: list[Any] = [fence.run_id.hex, step.key, step.scope, step.ordinal, generation]
    cursor.execute(BEGIN_STEP, [*place, state, attempt, fence.number, started])


def _write_checkpoint(cursor: Cursor, fence: Fence, change: Advance, number: int, at: str) -> None:
    cursor.execute(
        INSERT_CHECKPOINT,
        [
            fence.run_id.hex,
            number,
            change.step,
            change.generation,
            change.finished,
            change.cursor_ordinal,
            change.cursor_token,
            change.plan_hash,
            change.version,
            CHECKPOINT_SCHEMA,
            fence.number,
            change.keys_count,
            change.keys_digest,
            change.facts_digest,
            at,
        ],
    )


def _write_run(
    cursor: Cursor, fence: Fence, change: Advance, chain: "_Chain", number: int, at: str
) -> None:
    if change.ends_run:
        cursor.execute(RELEASE, [change.outcome, at, fence.assignment_id])
        values: list[Any] = [chain.seq, chain.head, number, at, at, change.outcome]
        cursor.execute(END_RUN, [*values, fence.run_id.hex, fence.number])
        return
    step, ordinal = change.step, None
    if change.next_step:
        step, ordinal = change.next_step.key, change.next_step.ordinal
    cursor.execute(
        ADVANCE_RUN,
        [chain.seq, chain.head, number, at, step, ordinal, fence.run_id.hex, fence.number],
    )


class _Chain:
    """Collects a transaction's events, linked to the head that the transaction holds."""

    def __init__(
        self,
        cursor: Cursor,
        tenant: int,
        run: str,
        fence: int,
        actor: str,
        seq: int,
        head: str,
        now: datetime,
    ) -> None:
        self.cursor, self.tenant, self.run, self.fence = cursor, tenant, run, fence
        self.actor, self.seq, self.head, self.now = actor, seq, head, now
        self.at, self.rows = _text(now), list[list[Any]]()

    def add(self, draft: Draft) -> None:
        salt, prev = new_salt(), self.head
        digest = payload_digest(salt=salt, body=draft.body)
        self.seq += 1
        self.head = link(
            prev=prev,
            seq=self.seq,
            at=self.now,
            kind=draft.kind,
            step=draft.step,
            fence=self.fence,
            actor=self.actor,
            payload=digest,
        )
        place = [self.tenant, self.run, self.seq, draft.kind, draft.step, self.fence, self.actor]
        content = [self.at, draft.body, salt, digest, prev, self.head]
        self.rows.append([*place, *content])

    def write(self) -> None:
        self.cursor.executemany(INSERT_EVENT, self.rows)


def _text(at: datetime) -> str:
    """How Django stores a time on SQLite."""
    return at.replace(tzinfo=None).isoformat(sep=" ", timespec="microseconds")
