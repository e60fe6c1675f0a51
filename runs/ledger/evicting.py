"""A person says that a worker is lost, so that what it holds goes to the next one."""

from dataclasses import dataclass
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from runs.ledger import draining
from runs.ledger.commits import commits
from runs.models import Run, Worker
from runs.queries.clock import db_now
from runs.queries.visibility import visible_runs
from runs.rules.policy import Actor, Verb, require
from runs.rules.states import RunState, WorkerState
from runs.rules.verbs import NotNow

EVICTED = "worker.evicted"


class NotEvicted(NotNow):
    """Nothing was taken from the worker; the message says why, and what to do instead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Eviction:
    """`seen` is the run that the worker held when it was looked at, or "" for none."""

    worker_id: UUID
    because: str
    though_alive: bool = False
    seen: UUID | str | None = None


@commits("eviction_committed")
def evict(actor: Actor, asked: Eviction) -> None:
    """Declare a worker lost; one whose lease is good only for who says that it may be alive.

    Its death is no crash of its step: whoever takes the run finds the worker marked as one that
    was to go (R28).
    """
    require(actor, Verb.OPERATE)
    worker_id, running = asked.worker_id, RunState.RUNNING.value
    held = Run.objects.filter(worker_id=worker_id, state=running).order_by("pk")
    with transaction.atomic():
        # Held until the end, or the commit that ends this run might claim another one meanwhile.
        _require_as_seen(actor, held.select_for_update(no_key=True), asked.seen)
        now = db_now()
        rows = Worker.objects.filter(pk=worker_id, state=WorkerState.LIVE.value)
        if not asked.though_alive:
            rows = rows.filter(lease_until__lt=now)
        said = f"evicted by {actor.name}: {asked.because}"[:300]
        lost = {"state": WorkerState.LOST.value, "ended_at": now, "lease_until": now}
        if not rows.update(**lost, end_reason=said, draining=True):
            raise NotEvicted(_why_not(worker_id))
        # One that held none may have claimed before it was lost.
        _require_as_seen(actor, held, asked.seen)
        draining.note(worker_id, EVICTED, because=asked.because, by=actor.name)


def _require_as_seen(actor: Actor, rows: QuerySet[Run], seen: UUID | str | None) -> None:
    held = list(rows.values_list("pk", flat=True))
    if visible_runs(actor).filter(pk__in=held).count() < len(held):
        raise NotEvicted(
            "It holds a run of a tenant that you do not belong to; somebody who does may evict it."
        )
    if seen is not None and [str(run_id) for run_id in held] != ([str(seen)] if seen else []):
        raise NotEvicted("It holds another run than when you looked, or none any more.")


def _why_not(worker_id: UUID) -> str:
    if Worker.objects.filter(pk=worker_id, state=WorkerState.LIVE.value).exists():
        return (
            "Its lease is good, so it may be at work. Let it finish by draining it, or say that its "
            "run is to be taken though it may be alive."
        )
    return "That worker is gone already; nothing was changed."
