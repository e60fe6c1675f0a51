"""What a queued run waits behind: the slots that are free, and what was placed before it."""

from dataclasses import dataclass

from runs.models import Assignment, Run, Worker
from runs.queries.clock import db_now
from runs.rules.states import AssignmentState, RunState, WorkerState
from runs.rules.why import MOST_AHEAD
from runs.rules.words import capped


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    """A worker is one slot: it takes up one run at a time."""

    slots: int
    free: int
    ahead: int

    @property
    def sentence(self) -> str:
        if not self.slots:
            return f"no slot, because no worker is alive; {capped(self.ahead, MOST_AHEAD)} ahead"
        one = "slot" if self.slots == 1 else "slots"
        return f"{self.free:,} of {self.slots:,} {one} free, {capped(self.ahead, MOST_AHEAD)} ahead"


def queue_before(placed: Assignment) -> Queue:
    """As it stands now before this assignment; three counts, none of them over more than is live."""
    workers = Worker.objects.filter(
        state=WorkerState.LIVE.value, draining=False, lease_until__gt=db_now()
    )
    slots = workers.count()
    busy = Run.objects.filter(state=RunState.RUNNING.value, worker__in=workers).count()
    return Queue(slots=slots, free=max(slots - busy, 0), ahead=ahead_of(placed))


def ahead_of(placed: Assignment) -> int:
    """How many are taken up before it; counted no further than a person would."""
    waiting = Assignment.objects.filter(state=AssignmentState.PLACED.value)
    return waiting.filter(placed_at__lt=placed.placed_at)[: MOST_AHEAD + 1].count()
