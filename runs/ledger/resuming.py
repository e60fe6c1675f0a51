"""A run that stood still goes on where it stood: at its first incomplete step, or in its wait."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import F

from runs.definition import gates
from runs.ledger import assignments, holding, lifecycle, limits, transitions
from runs.ledger.commits import commits
from runs.models import Run, Step, Wait
from runs.queries.clock import db_now
from runs.queries.fleet import paused_together
from runs.queries.kept import Kept, kept_of
from runs.queries.limits import deadline_of
from runs.rules import canonical
from runs.rules.asks import ends_as_failed
from runs.rules.chain import Draft
from runs.rules.policy import Actor, Verb, require
from runs.rules.states import RunState, StepState, WaitState
from runs.rules.verbs import NotNow, RunVerb


@dataclass(frozen=True, slots=True, kw_only=True)
class Resumed:
    """Where the run stands now, what is kept, and the calls that are settled before more is sent."""

    id: UUID
    state: str
    step: str
    kept: Kept
    in_doubt: Sequence[dict[str, Any]]
    asks_anew: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumedAll:
    resumed: Sequence[UUID]
    passed: Sequence[UUID]
    left: int


@commits("resume_placed")
def resume(
    actor: Actor,
    run_id: UUID,
    *,
    because: str = "",
    deadline: timedelta | None = None,
    seen: str | None = None,
) -> Resumed:
    """Let a failed or paused run go on; a pause that is only requested is taken back.

    Raises NotAllowed, NoSuchRun, RunChanged, NotNow, NoDeadline, DeadlineTooShort.
    """
    with transaction.atomic():
        run, now = holding.held_for(actor, run_id, RunVerb.RESUME, seen=seen), db_now()
        _give_time(actor, run, deadline=deadline, now=now)
        kept, origin = kept_of(run), run.state
        asks_anew = _ask_anew(run) if origin == RunState.FAILED else []
        body = {"because": because, "from": origin, **kept.told(), "asks_anew": asks_anew}
        event = Draft(kind="run.resumed", step=run.step, body=canonical.dumps(body))
        _go_on(run, actor, event, because=because, now=now)
    return Resumed(
        id=run.pk,
        state=run.state,
        step=run.step,
        kept=kept,
        in_doubt=kept.in_doubt,
        asks_anew=asks_anew,
    )


def _give_time(actor: Actor, run: Run, *, deadline: timedelta | None, now: datetime) -> None:
    if deadline is not None:
        limits.raise_deadline(actor, run, to=deadline, now=now)
        return
    standing = deadline_of(run.pk)
    if standing is not None and standing.is_over:
        raise NotNow(
            f"The deadline of run {run.reference} is over, so it would stop again at once. "
            "Resume it with a longer deadline."
        )


def _ask_anew(run: Run) -> list[str]:
    """What ended the run is no answer any more: the body that is entered again asks it anew (I6)."""
    step = Step.objects.get(run=run, key=run.step, superseded=False)
    rows = Wait.objects.filter(
        run=run, step=step.key, generation=step.generation, superseded=False
    ).exclude(state__in=[WaitState.OPEN.value, WaitState.WITHDRAWN.value])
    ended = [wait for wait in rows if _ended_the_run(wait)]
    Wait.objects.filter(pk__in=[wait.pk for wait in ended]).update(superseded=True, fence=run.fence)
    Step.objects.filter(pk=step.pk).update(
        state=StepState.PENDING.value, failures=0, ended_at=None, fence=run.fence
    )
    return [wait.name for wait in ended]


def _ended_the_run(wait: Wait) -> bool:
    if wait.state == WaitState.EXPIRED:
        return True
    answer = canonical.loads(wait.answer) if wait.answer else None
    return ends_as_failed(canonical.loads(wait.subject), answer)


def _go_on(run: Run, actor: Actor, event: Draft, *, because: str, now: datetime) -> None:
    standing: dict[str, Any] = {
        "reason": "",
        "pause_requested": False,
        "paused_at": None,
        "paused_with": None,
    }
    if run.state == RunState.RUNNING:
        transitions.note(run, events=[event], now=now, actor=actor.name, **standing)
        return
    wait = Wait.objects.filter(run=run, state=WaitState.OPEN.value).first()
    if wait is not None:
        _let_its_clock_go_on(run, wait, now=now)
        told = lifecycle.line(
            run,
            state=RunState.WAITING,
            reason=f"waits for a {wait.kind}: {wait.name}",
            in_flight=run.step,
        )
        transitions.move(
            run, to=RunState.WAITING, events=[event, told], now=now, actor=actor.name, **standing
        )
        return
    transitions.move(run, to=RunState.QUEUED, events=[event], now=now, actor=actor.name, **standing)
    said = f": {because}" if because else ""
    assignments.place(run, reason=f"resumed by {actor.name}{said}"[:300], now=now)


def _let_its_clock_go_on(run: Run, wait: Wait, *, now: datetime) -> None:
    """It stood while the run was paused; a timer or a retry is due when it was due (R9)."""
    if wait.on_due == "resume" or run.paused_at is None:
        return
    since, gate = max(run.paused_at, wait.opened_at), gates.gate_for(wait.kind)
    gate.go_on(wait.pk, since, now)
    if wait.due_at is None:
        return
    stood = now - since
    Wait.objects.filter(pk=wait.pk).update(due_at=F("due_at") + stood, fence=run.fence)
    gate.postpone(wait.pk, wait.due_at + stood)


def resume_all(
    actor: Actor, *, because: str = "", tenant_id: int | None = None, at_most: int
) -> ResumedAll:
    """Resume what pausing all has paused, and nothing that was paused alone."""
    require(actor, Verb.OPERATE)
    resumed: list[UUID] = []
    passed: list[UUID] = []
    rows = paused_together(actor, tenant_id=tenant_id)
    for run_id in rows.order_by("pk").values_list("pk", flat=True)[:at_most]:
        try:
            resume(actor, run_id, because=because)
        except (NotNow, transitions.NoSuchRun):
            passed.append(run_id)
            continue
        resumed.append(run_id)
    return ResumedAll(resumed=resumed, passed=passed, left=rows.count())
