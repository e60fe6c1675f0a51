"""Who may work on a run: place, claim, release, take over."""

from datetime import datetime
from uuid import UUID

from django.db import connection

from runs import conf
from runs.ledger import postgresql, sqlite
from runs.ledger.commits import commits
from runs.models import Assignment, Run
from runs.rules.claims import Claimed
from runs.rules.states import AssignmentState


def place(run: Run, *, reason: str, now: datetime) -> Assignment:
    """Put a locked run on the list of work, once, and ring.

    The bell is rung inside the transaction; a queue in the same database commits with it.
    """
    assignment = Assignment.objects.create(
        run=run, from_step=run.step, reason=reason, placed_at=now
    )
    conf.ring(assignment.pk)
    return assignment


@commits("claimed", when=bool)
def claim(*, worker_id: UUID, plans: list[str]) -> Claimed | None:
    """Take the oldest placed assignment whose plan this worker's code matches (I9)."""
    if connection.vendor == "sqlite":
        return sqlite.claim(worker_id=worker_id, plans=plans)
    return postgresql.claim(worker_id=worker_id, plans=plans)


def close(run_id: UUID, *, to: AssignmentState, outcome: str, now: datetime) -> None:
    """End the open assignment of a locked run, if there is one."""
    Assignment.objects.filter(
        run_id=run_id,
        state__in=[AssignmentState.PLACED.value, AssignmentState.CLAIMED.value],
    ).update(state=to.value, outcome=outcome, closed_at=now)
