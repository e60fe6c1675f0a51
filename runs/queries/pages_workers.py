"""The page of the workers: who works as its lease says, what is queued, how fast losses were made good."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from runs.models import Assignment, Run, Tick
from runs.queries.clock import db_now
from runs.queries.crew import Hand, crew, finished
from runs.queries.recovery import WINDOW, Figures, Recovery, figures, recoveries
from runs.queries.visibility import visible_runs
from runs.rules.policy import Actor
from runs.rules.states import AssignmentState

MOST_GONE = 10
MOST_SHOWN = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A worker; the run's name only where whoever looks may see that run."""

    hand: Hand
    run: Run | None
    done: str

    @property
    def is_stale(self) -> bool:
        return self.hand.state == "stale"

    @property
    def memory(self) -> int:
        return self.hand.memory_kb * 1024

    @property
    def may_be_drained(self) -> bool:
        return self.hand.state in ("working", "idle", "stale")

    @property
    def may_be_evicted(self) -> bool:
        """What holds nothing and renews its lease is drained, not evicted."""
        return self.is_stale or (self.hand.ended_at is None and self.run is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkersPage:
    """`jumped_at` is when the clockwork last saw the clock jump, if it ever did."""

    version: str
    here: Sequence[Row]
    gone: Sequence[Row]
    placed: int
    oldest_placed: datetime | None
    ticked_at: datetime | None
    jumped_at: datetime | None
    counts_newest: bool
    figures: Figures
    recoveries: Sequence[Recovery]

    @property
    def median(self) -> str:
        return _seconds(self.figures.median)

    @property
    def maximum(self) -> str:
        return _seconds(self.figures.maximum)


def _seconds(value: float | None) -> str:
    return "none yet" if value is None else f"{value:.2f} s"


def workers_page(actor: Actor) -> WorkersPage:
    """A handful of queries, however many workers there are."""
    now = db_now()
    hands = crew(also_gone=True)
    runs, done = _visible(actor, hands), finished([hand.id for hand in hands])
    rows = [
        Row(
            hand=hand,
            run=runs.get(hand.run_id),
            done=done.of(hand.id),
        )
        for hand in hands
    ]
    here = [row for row in rows if row.hand.state not in ("ended", "lost")]
    gone = [row for row in rows if row.hand.state in ("ended", "lost")][:MOST_GONE]
    placed = Assignment.objects.filter(state=AssignmentState.PLACED.value).order_by("placed_at")
    ticks = dict(Tick.objects.values_list("duty", "at"))
    # Of runs that this person sees; of others not even that they exist.
    found = recoveries(since=now - WINDOW, among=visible_runs(actor))
    return WorkersPage(
        version=str(int(now.timestamp()) // 5),
        here=here,
        gone=gone,
        placed=placed.count(),
        oldest_placed=placed.values_list("placed_at", flat=True).first(),
        ticked_at=ticks.get("clockwork"),
        jumped_at=ticks.get("clock_jump"),
        counts_newest=done.of_newest,
        figures=figures(found),
        recoveries=found[:MOST_SHOWN],
    )


def _visible(actor: Actor, hands: Sequence[Hand]) -> dict[UUID | None, Run]:
    held = [hand.run_id for hand in hands if hand.run_id]
    return {run.pk: run for run in visible_runs(actor).filter(pk__in=held)}
