"""The commit of a step or of a page of it: all that it completes, in one transaction."""

from collections.abc import Sequence

from django.db import connection, transaction

from runs.ledger import buffers, postgresql, sqlite, transitions
from runs.ledger.commits import commits, reached
from runs.queries.clock import db_now
from runs.rules.claims import Advance, Advanced
from runs.rules.fence import Fence
from runs.rules.written import StepPlace, Written


@commits("committed")
def advance(
    fence: Fence,
    change: Advance,
    *,
    place: StepPlace,
    written: Written,
    then: Sequence[str] = (),
) -> Advanced:
    """Finish a step, or a page of it, and start the next one, in one commit (I1, I8, I12).

    What ends its run takes the oldest placed one of the plans `then` in the same commit.
    With nothing in the buffer this is one statement on PostgreSQL. Raises FenceLost.
    """
    if not written:
        advanced = _advance(fence, change, then)
    else:
        with transaction.atomic():
            # The guard comes after everything the author's code did in this transaction (R19).
            run = transitions.hold(fence)
            buffers.store(fence, place, written, now=db_now())
            buffers.accept_calls(fence, place, written, checkpoint=run.checkpoint + 1)
            advanced = _advance(fence, change, then)
        written.clear()
    if taken := advanced.taken:
        reached("claimed", step=taken.step.key, run=str(taken.fence.run_id))
    return advanced


def _advance(fence: Fence, change: Advance, then: Sequence[str]) -> Advanced:
    if connection.vendor == "sqlite":
        return sqlite.advance(fence, change, then)
    return postgresql.advance(fence, change, then)
