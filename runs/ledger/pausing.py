"""Runs stand still: one of them, or all of them at once."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID, uuid4

from django.db import transaction

from runs.ledger import assignments, holding, lifecycle, transitions
from runs.ledger.commits import commits
from runs.models import Run
from runs.queries.clock import db_now
from runs.queries.fleet import movable
from runs.rules import canonical
from runs.rules.chain import Draft
from runs.rules.policy import Actor, Verb, require
from runs.rules.states import AssignmentState, RunState
from runs.rules.verbs import NotNow, RunVerb


@dataclass(frozen=True, slots=True, kw_only=True)
class PausedAll:
    """What became of each: paused, asked to pause at its next checkpoint, or moved meanwhile."""

    paused: Sequence[UUID]
    requested: Sequence[UUID]
    passed: Sequence[UUID]
    left: int


@commits("pause_committed")
def pause(
    actor: Actor,
    run_id: UUID,
    *,
    because: str,
    seen: str | None = None,
    paused_with: UUID | None = None,
) -> str:
    """Pause a run, at once or, while a worker holds it, at its next checkpoint (R17).

    Returns the state the run is in now. Raises NotAllowed, NoSuchRun, RunChanged, NotNow.
    """
    with transaction.atomic():
        run, now = holding.held_for(actor, run_id, RunVerb.PAUSE, seen=seen), db_now()
        if run.state == RunState.RUNNING:
            _request(run, actor, because=because, paused_with=paused_with)
            return run.state
        assignments.close(run.pk, to=AssignmentState.RELEASED, outcome="paused", now=now)
        lifecycle.end_paused(
            run, because=because, actor=actor.name, now=now, paused_with=paused_with
        )
    return run.state


def _request(run: Run, actor: Actor, *, because: str, paused_with: UUID | None) -> None:
    transitions.note(
        run,
        events=[
            Draft(
                kind="run.pause_requested",
                step=run.step,
                body=canonical.dumps({"because": because}),
            )
        ],
        now=db_now(),
        actor=actor.name,
        pause_requested=True,
        reason=because,
        paused_with=paused_with,
    )


def pause_all(
    actor: Actor, *, because: str, tenant_id: int | None = None, at_most: int
) -> PausedAll:
    """Pause every run the actor sees that can move by itself; each is a transaction of its own.

    What was paused before stays as it is; what is started afterwards runs.
    """
    require(actor, Verb.OPERATE)
    together = uuid4()
    paused: list[UUID] = []
    requested: list[UUID] = []
    passed: list[UUID] = []
    rows = movable(actor, tenant_id=tenant_id)
    # In order of their ids, like every batch (R18).
    for run_id in rows.order_by("pk").values_list("pk", flat=True)[:at_most]:
        try:
            state = pause(actor, run_id, because=because, paused_with=together)
        except (NotNow, transitions.NoSuchRun):
            passed.append(run_id)
            continue
        (paused if state == RunState.PAUSED else requested).append(run_id)
    return PausedAll(paused=paused, requested=requested, passed=passed, left=rows.count())
