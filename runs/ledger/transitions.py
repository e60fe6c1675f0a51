"""The only way a run's state changes: a conditional update whose row count is checked."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from runs.ledger import audit
from runs.models import Run
from runs.rules.chain import Draft
from runs.rules.fence import Fence, FenceLost
from runs.rules.states import FINAL, RunState, sources_of


class MoveRefused(Exception):
    """The run is not in a state from which this move is allowed; look at it again."""

    def __init__(self, run_id: UUID, *, state: str, to: str) -> None:
        super().__init__(f"Run {run_id} is {state} and cannot become {to}.")
        self.run_id, self.state, self.to = run_id, state, to


class NoSuchRun(Exception):
    """There is no such run, or it belongs to a tenant this actor does not see."""


class RunChanged(Exception):
    """The run has moved on since it was looked at; look again before anything is done to it."""

    def __init__(self, run: Run) -> None:
        super().__init__(
            f"Run {run.pk} changed at {run.updated_at:%Y-%m-%d %H:%M:%S} UTC, after you looked: it "
            f"is {run.state} now. Nothing was done."
        )
        self.run = run


def lock(run_id: UUID) -> Run:
    """The run's row, held until the transaction ends.

    NO KEY: a plain FOR UPDATE would block every insert that refers to the run (R18).
    """
    run = Run.objects.select_for_update(no_key=True).filter(pk=run_id).first()
    if run is None:
        raise NoSuchRun(f"There is no run {run_id}.")
    return run


def hold(fence: Fence) -> Run:
    """The guard of every engine write: the run's row, held, if this fence is the newest (I3)."""
    run = (
        Run.objects.select_for_update(no_key=True)
        .filter(
            pk=fence.run_id,
            fence=fence.number,
            worker_id=fence.worker_id,
            state=RunState.RUNNING.value,
        )
        .first()
    )
    if run is None:
        raise FenceLost(fence)
    return run


def move(
    run: Run,
    *,
    to: RunState,
    events: Sequence[Draft],
    now: datetime,
    actor: str,
    fence: int = 0,
    **fields: Any,
) -> None:
    """Move a locked run to `to`, with its events, as the last write of the transaction.

    Raises MoveRefused when the table of moves does not allow it.
    """
    if RunState(run.state) not in sources_of(to):
        raise MoveRefused(run.pk, state=run.state, to=to)
    seen = run.seq
    audit.append(run, events, now=now, fence=fence, actor=actor)
    ended = now if to in FINAL else None
    worker = fields.pop("worker_id", None) if to is RunState.RUNNING else None
    moved = Run.objects.filter(pk=run.pk, state=run.state, seq=seen).update(
        state=to.value,
        seq=run.seq,
        head=run.head,
        updated_at=now,
        ended_at=ended,
        worker_id=worker,
        **fields,
    )
    if not moved:
        raise MoveRefused(run.pk, state=run.state, to=to)
    run.state, run.updated_at, run.ended_at, run.worker_id = to.value, now, ended, worker


def note(
    run: Run,
    *,
    events: Sequence[Draft],
    now: datetime,
    actor: str,
    fence: int = 0,
    **fields: Any,
) -> None:
    """Write facts about a locked run whose state does not change."""
    audit.append(run, events, now=now, fence=fence, actor=actor)
    Run.objects.filter(pk=run.pk).update(seq=run.seq, head=run.head, updated_at=now, **fields)
