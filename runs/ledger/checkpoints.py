"""The commit of a step or of a page of it: all that it completes, in one transaction."""

from django.db import connection, transaction

from runs.ledger import buffers, postgresql, sqlite, transitions
from runs.ledger.commits import commits
from runs.queries.clock import db_now
from runs.rules.claims import Advance, Advanced
from runs.rules.fence import Fence
from runs.rules.written import StepPlace, Written


@commits("committed")
def advance(fence: Fence, change: Advance, *, place: StepPlace, written: Written) -> Advanced:
    """Finish a step, or a page of it, and start the next one, in one commit (I1, I8, I12).

    With nothing in the buffer this is one statement on PostgreSQL. Raises FenceLost.
    """
    if not written:
        return _advance(fence, change)
    with transaction.atomic():
        # The guard comes after everything the author's code did in this transaction (R19).
        run = transitions.hold(fence)
        buffers.store(fence, place, written, now=db_now())
        buffers.accept_calls(fence, place, written, checkpoint=run.checkpoint + 1)
        advanced = _advance(fence, change)
    written.clear()
    return advanced


def _advance(fence: Fence, change: Advance) -> Advanced:
    if connection.vendor == "sqlite":
        return sqlite.advance(fence, change)
    return postgresql.advance(fence, change)
