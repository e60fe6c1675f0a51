"""A worker is evicted by a person: what it holds is taken as the watch takes it from a lost one."""

from dataclasses import dataclass
from uuid import UUID

from runs.engine import identity, takeover
from runs.ledger import evicting
from runs.ledger.evicting import Eviction
from runs.queries.workers import seen_worker
from runs.rules.policy import Actor


@dataclass(frozen=True, slots=True, kw_only=True)
class Evicted:
    """`lives` when its process would not die: what it holds is fenced, and taken once it is dead."""

    runs: tuple[UUID, ...]
    lives: bool


def evict(actor: Actor, asked: Eviction) -> Evicted:
    """Who dies behind the first commit leaves the rest to the watch, as with any lost worker."""
    evicting.evict(actor, asked)
    worker = seen_worker(asked.worker_id)
    life = identity.life_of(worker.identity, seen_from=identity.of_this_process())
    taken = takeover.take_from(worker, life=life, because=worker.end_reason)
    return Evicted(runs=tuple(taken or ()), lives=taken is None)
