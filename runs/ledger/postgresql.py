"""The three hot commits on PostgreSQL, each one call of one function: one round trip, one commit.

The functions are made again after every migration, like the guards (R20).
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

from django.db.backends.base.base import BaseDatabaseWrapper

from runs.conf import CHECKPOINT_SCHEMA, conf
from runs.queries.prepared import Prepared
from runs.rules.chain import new_salt
from runs.rules.claims import Advance, Advanced, Claimed, Pull, RunDraft, claimed_from
from runs.rules.fence import Fence, FenceLost

# Room on each page for the next version of a row, so that an update touches no index.
FILL = {"runs_run": 50, "runs_step": 70, "runs_assignment": 70, "runs_worker": 30}
FUNCTIONS = Path(__file__).with_name("postgresql.sql")
START = Prepared(f"SELECT runs_start({', '.join(['%s'] * 20)})")
CLAIM = Prepared("SELECT * FROM runs_claim(%s, %s, %s, %s, %s) WHERE o_run IS NOT NULL")
_ADVANCE = f"runs_advance({', '.join(['%s'] * 12)}, {CHECKPOINT_SCHEMA}, {', '.join(['%s'] * 6)})"
ADVANCE = Prepared(f"SELECT * FROM {_ADVANCE} WHERE o_checkpoint IS NOT NULL")  # noqa: S608 - names of our own
# The end of one run and the claim of the next: the left side of a loop is asked first.
ADVANCE_AND_CLAIM = Prepared(
    f"SELECT * FROM {_ADVANCE} AS ended LEFT JOIN runs_claim(%s, %s, %s, %s, %s) AS taken"  # noqa: S608
    " ON true WHERE ended.o_checkpoint IS NOT NULL"
)
# ASCII's own separators of records and of their parts: canonical JSON has no such characters.
RECORD, PART = "\x1e", "\x1f"


def _offset() -> str:
    return f"{conf().clock_offset.total_seconds()} s"


def install(database: BaseDatabaseWrapper) -> None:
    """Make the functions again, in their present form."""
    with database.cursor() as cursor:
        cursor.execute(FUNCTIONS.read_text())
        for table, percent in FILL.items():
            cursor.execute(f"ALTER TABLE {table} SET (fillfactor = {percent})")


def start(draft: RunDraft, pull: Pull | None) -> int | None:
    """See `ledger.lifecycle.start`; rings by itself where there is something to `pull`.

    None, and nothing is written, where its tenant or the plan of its version is not known yet.
    """
    row = START.one(
        [
            draft.id,
            draft.tenant,
            draft.workflow,
            draft.version,
            draft.plan_hash,
            draft.reference,
            draft.labels,
            draft.start_key,
            draft.input,
            draft.input_digest,
            draft.started_by,
            draft.step.key,
            draft.step.scope,
            draft.steps_total,
            draft.body,
            new_salt(),
            _offset(),
            *((pull.key, pull.message, pull.enough) if pull else (None, None, None)),
        ]
    )
    return row[0] if row else None


def claim(*, worker_id: UUID, plans: Sequence[str]) -> Claimed | None:
    """See `ledger.assignments.claim`."""
    row = CLAIM.one(_claim(worker_id, plans))
    return _claimed(row, worker_id) if row else None


def _claim(worker_id: UUID, plans: Sequence[str]) -> list[object]:
    return [worker_id, " ".join(plans), new_salt(), new_salt(), _offset()]


def _claimed(row: Sequence[Any], worker_id: UUID) -> Claimed:
    return claimed_from(row, worker_id=worker_id, number=row[4], attempt=row[21])


def advance(fence: Fence, change: Advance, then: Sequence[str] = ()) -> Advanced:
    """See `ledger.checkpoints.advance`."""
    given = _advance(fence, change)
    if then:
        row = ADVANCE_AND_CLAIM.one([*given, *_claim(fence.worker_id, then)])
    else:
        row = ADVANCE.one(given)
    if row is None:
        raise FenceLost(fence)
    checkpoint, cancel, pause, *claim = row
    # Its third column is the run, null where there was none to claim.
    taken = _claimed(claim, fence.worker_id) if then and claim[2] else None
    return Advanced(
        checkpoint=checkpoint, cancel_requested=cancel, pause_requested=pause, taken=taken
    )


def _advance(fence: Fence, change: Advance) -> list[object]:
    coming = change.next_step
    return [
        fence.run_id,
        fence.number,
        fence.worker_id,
        change.step,
        change.generation,
        change.finished,
        change.facts,
        change.facts_digest,
        change.cursor_ordinal,
        change.cursor_token,
        change.keys_count,
        change.keys_digest,
        coming.key if coming else None,
        coming.scope if coming else None,
        coming.ordinal if coming else None,
        change.outcome if change.ends_run else None,
        RECORD.join(
            PART.join((draft.kind, draft.step, draft.body, new_salt())) for draft in change.events
        ),
        _offset(),
    ]
