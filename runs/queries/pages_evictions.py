"""The page on which a worker is evicted: what is known of it, and what becomes of its run."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from runs.models import Run
from runs.queries.crew import Hand, hand_named
from runs.queries.in_doubt import calls_in_doubt
from runs.queries.pages_run import visible_run
from runs.queries.preview import resume_preview
from runs.rules.policy import Actor
from runs.rules.preview import Preview

FENCED = (
    "It begins at its first incomplete step, under a new fence: whatever the old worker still wants "
    "to write is refused. What it has sent and nobody knows of is settled first, and not sent again "
    "by guessing."
)
ITS_PROCESS = (
    "Where its process can be seen from here, it is killed first, and the run is placed when it is "
    "dead. On another machine it ends itself when it next renews its lease; until then it may still "
    "send what it was sending."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EvictionPage:
    """`may_live` when its lease is good, so that somebody has to say that it is to go all the same."""

    hand: Hand
    run: Run | None
    refusal: str
    may_live: bool
    happens: Sequence[str]
    in_doubt: Sequence[dict[str, Any]]
    preview: Preview | None

    @property
    def seen(self) -> str:
        return str(self.hand.run_id or "")


def eviction_page(actor: Actor, worker_id: UUID) -> EvictionPage | None:
    hand = hand_named(worker_id)
    if hand is None:
        return None
    run = visible_run(actor, hand.run_id) if hand.run_id else None
    refusal = _refusal(hand, run)
    return EvictionPage(
        hand=hand,
        run=run,
        refusal=refusal,
        may_live=hand.state != "stale",
        happens=() if refusal else _happens(run),
        in_doubt=() if refusal or run is None else calls_in_doubt(run.pk),
        preview=None if refusal or run is None else resume_preview(run),
    )


def _refusal(hand: Hand, run: Run | None) -> str:
    if hand.ended_at is not None:
        return f"That worker is gone already: {hand.end_reason or hand.state}."
    if hand.run_id and run is None:
        return (
            "It holds a run of a tenant that you do not belong to; somebody who does may evict it."
        )
    return ""


def _happens(run: Run | None) -> Sequence[str]:
    if run is None:
        return ("It holds no run, so nothing is given to anybody.", ITS_PROCESS)
    return (f"{run.reference} goes back to the queue. {FENCED}", ITS_PROCESS)
