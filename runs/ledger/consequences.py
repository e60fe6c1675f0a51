"""What follows from how a wait was closed: the run goes on, ends, or is put right first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from runs.ledger import (
    assignments,
    correcting,
    lifecycle,
    limits,
    replaying,
    restarting,
    skipping,
    superseding,
    transitions,
)
from runs.models import Run, Wait
from runs.queries.plans import plan_by_hash
from runs.rules import canonical
from runs.rules.asks import Then
from runs.rules.chain import Draft
from runs.rules.corrections import TwoValues, filled_in
from runs.rules.inputs import InvalidInput
from runs.rules.policy import system
from runs.rules.states import RunState


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """How a wait was closed: what follows, who did it, why, and what was filled in."""

    then: Then
    by: str
    because: str
    wait: Wait
    fields: Mapping[str, Any] = field(default_factory=dict)


def carry_out(run: Run, way: Way, *, closed: Sequence[Draft], now: datetime) -> None:
    """Move a locked run as its way says; `closed` are the events of the wait's end."""
    because, by = way.because, way.by
    match way.then:
        case "resume" | "correct" | "skip" | "raise":
            _put_right(run, way, now=now)
            go_on(run, closed=closed, because=because, by=by, now=now)
        case "begin":
            superseding.approved(run, way.wait, closed=closed, by=by, because=because, now=now)
        case _:
            transitions.note(run, events=closed, now=now, actor=by)
            _end_or_redo(run, way, now=now)


def _put_right(run: Run, way: Way, *, now: datetime) -> None:
    """What is done before the run goes on."""
    if way.then == "correct":
        _correct(run, way, now=now)
    if way.then == "skip":
        skipping.skip(run, by=way.by, because=way.because, now=now)
    if way.then == "raise":
        longer = timedelta(hours=float(way.fields["hours"]))
        limits.raise_deadline(system(way.by), run, to=longer, now=now)


def _end_or_redo(run: Run, way: Way, *, now: datetime) -> None:
    because, by = way.because, way.by
    match way.then:
        case "cancel":
            lifecycle.end_cancelled(run, because=because, actor=by, now=now)
        case "fail":
            lifecycle.end_failed(run, because=because, actor=by, now=now)
        case "replay":
            number = int(way.fields["checkpoint"])
            replaying.replay(system(by), run.pk, checkpoint=number, because=because)
        case "restart":
            abandon = _given_up(way.wait)
            restarting.restart(system(by), run.pk, because=because, abandon=abandon)


def _given_up(wait: Wait) -> Sequence[str]:
    """Who restarts instead of saying what became of a call says that nobody will know (R5)."""
    asked = canonical.loads(wait.subject)
    return [str(asked["call"]["key"])] if asked.get("kind") == "reconcile" else []


def go_on(run: Run, *, closed: Sequence[Draft], because: str, by: str, now: datetime) -> None:
    """Place the run, or keep what came for it while it is paused."""
    if run.state == RunState.PAUSED:
        # Whoever resumes the run lets it go on from there.
        line = lifecycle.line(run, state=RunState.PAUSED, reason=run.reason, in_flight=run.step)
        transitions.note(run, events=[*closed, line], now=now, actor=by)
        return
    transitions.move(run, to=RunState.QUEUED, events=closed, now=now, actor=by, reason="")
    assignments.place(run, reason=because[:300], now=now)


def _correct(run: Run, way: Way, *, now: datetime) -> None:
    """What was left empty stays as it is; what was asked about the old input is asked anew."""
    Wait.objects.filter(pk=way.wait.pk).update(superseded=True, fence=run.fence)
    try:
        values = filled_in(plan_by_hash(run.plan_id).input_fields, way.fields)
    except TwoValues as both:
        raise InvalidInput(run.workflow, {both.field: str(both)}) from None
    correcting.correct_held(run, values=values, by=way.by, because=way.because, now=now)
