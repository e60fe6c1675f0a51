"""Every verb in every state of a run: it is done, or refused with a reason and nothing changes."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import pytest
from django.db import transaction

from runs.engine.worker import known_plans
from runs.ledger import (
    assignments,
    checkpoints,
    correcting,
    lifecycle,
    pausing,
    replaying,
    restarting,
    resuming,
    waking,
)
from runs.ledger.waits import WaitClosed
from runs.models import Wait
from runs.queries.clock import db_now
from runs.queries.verify import violations
from runs.rules.chain import Draft
from runs.rules.claims import Advance, NextStep
from runs.rules.fence import Fence, FenceLost
from runs.rules.states import FINAL, RunState
from runs.rules.written import StepPlace, Written
from tests.durability.fences import a_worker_row, claimed_by
from tests.support import runs

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("_moves")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A run that has asked once, and the fence that holds it, if one does."""

    run_id: UUID
    fence: Fence

    @property
    def wait(self) -> int:
        return Wait.objects.get(run_id=self.run_id).pk


def a_run_in(state: RunState) -> Case:
    run_id = runs.a_run("surveys")
    runs.drain()
    fence = Fence(
        run_id=run_id,
        tenant_id=runs.the_run(run_id).tenant_id,
        worker_id=a_worker_row(),
        assignment_id=0,
        number=runs.the_run(run_id).fence,
    )
    if state is RunState.RUNNING:
        runs.answer(run_id, "yes")
        return Case(run_id=run_id, fence=claimed_by(fence.worker_id, run_id).fence)
    BROUGHT_THERE[state](run_id)
    assert runs.state_of(run_id) == state
    return Case(run_id=run_id, fence=fence)


def answered(option: str, *, worked: bool) -> Callable[[UUID], None]:
    def bring(run_id: UUID) -> None:
        runs.answer(run_id, option)
        if worked:
            runs.drain()

    return bring


BROUGHT_THERE: dict[RunState, Callable[[UUID], object]] = {
    RunState.QUEUED: answered("yes", worked=False),
    RunState.WAITING: lambda run_id: None,
    RunState.PAUSED: lambda run_id: pausing.pause(runs.the_operator(), run_id, because="x"),
    RunState.FAILED: answered("no", worked=True),
    RunState.SUCCEEDED: answered("yes", worked=True),
    RunState.CANCELLED: lambda run_id: lifecycle.cancel(runs.the_operator(), run_id, because="x"),
    RunState.SUPERSEDED: lambda run_id: restarting.restart(
        runs.the_operator(), run_id, because="x"
    ),
}


def decide(case: Case) -> None:
    option = {"option": "yes", "fields": {}}
    with transaction.atomic():
        waking.answer(case.wait, answer=option, by="ann", then="resume")


def expire(case: Case) -> None:
    Wait.objects.filter(pk=case.wait, state="open").update(due_at=db_now())
    if not waking.expire(case.wait):
        raise NothingDone("the clock has nothing to close")


def claim(case: Case) -> None:
    claimed = assignments.claim(worker_id=a_worker_row(), plans=known_plans())
    if claimed is None or claimed.fence.run_id != case.run_id:
        raise NothingDone("there is nothing to claim")


def finish(case: Case) -> None:
    run = runs.the_run(case.run_id)
    change = Advance(
        step="ask",
        generation=1,
        finished=True,
        facts='{"answer":"yes"}',
        facts_digest="0" * 64,
        cursor_ordinal=0,
        cursor_token="",
        keys_count=0,
        keys_digest="",
        plan_hash=run.plan_id,
        version=run.version,
        next_step=NextStep(key="end", scope="end", ordinal=2),
        ends_run=False,
        events=[Draft(kind="step.succeeded", step="ask"), Draft(kind="step.started", step="end")],
    )
    place = StepPlace(key="ask", scope="ask", generation=1, attempt=2)
    checkpoints.advance(case.fence, change, place=place, written=Written())


class NothingDone(Exception):
    """The engine looked, and there was nothing to do."""


VERBS: dict[str, Callable[[Case], object]] = {
    "resume": lambda case: resuming.resume(runs.the_operator(), case.run_id),
    "pause": lambda case: pausing.pause(runs.the_operator(), case.run_id, because="x"),
    "correct": lambda case: correcting.correct(
        runs.the_operator(), case.run_id, values={"about": "coffee"}, because="x"
    ),
    "cancel": lambda case: lifecycle.cancel(runs.the_operator(), case.run_id, because="x"),
    "replay": lambda case: replaying.replay(
        runs.the_operator(), case.run_id, checkpoint=0, because="x"
    ),
    "restart": lambda case: restarting.restart(runs.the_operator(), case.run_id, because="x"),
    "decide": decide,
    "expire": expire,
    "claim": claim,
    "finish": finish,
}
Q, R, W, P = RunState.QUEUED, RunState.RUNNING, RunState.WAITING, RunState.PAUSED
F, S, C, O = RunState.FAILED, RunState.SUCCEEDED, RunState.CANCELLED, RunState.SUPERSEDED  # noqa: E741
AGAIN = "never changes again"

# The state that a run is in after the verb, or what the refusal says.
TABLE: dict[str, dict[RunState, RunState | str]] = {
    "resume": {Q: "queued already", R: "nothing to resume", W: "answer that", P: W, F: Q},
    "pause": {Q: P, R: R, W: P, P: "paused already", F: "has failed"},
    "correct": {Q: "Pause it first", R: "Pause it first", W: "Pause it first", P: P, F: F},
    "cancel": {Q: C, R: R, W: C, P: C, F: C},
    "replay": {Q: Q, R: "Pause it first", W: Q, P: Q, F: Q},
    "restart": {Q: O, R: R, W: O, P: O, F: O},
    "decide": {Q: "Already resolved", R: "Already resolved", W: Q, P: P, F: "Already resolved"},
    "expire": {W: C},
    "claim": {Q: R},
    "finish": {R: R},
}
OF_FINAL: dict[str, dict[RunState, RunState | str]] = {
    **{verb: dict.fromkeys((S, C, O), AGAIN) for verb in ("resume", "pause", "correct", "replay")},
    "cancel": dict.fromkeys((S, C, O), "cannot become cancelled"),
    # A final run stays as it is, and is linked.
    "restart": {S: S, C: C, O: "does the same work and has not ended"},
    "decide": {S: "Already resolved", C: "Already withdrawn", O: "Already withdrawn"},
}
OF_NOBODY = {
    "expire": "nothing to close",
    "claim": "nothing to claim",
    "finish": "no longer held",
}


def expected(verb: str, state: RunState) -> RunState | str:
    known = TABLE[verb] | OF_FINAL.get(verb, {})
    return known[state] if state in known else OF_NOBODY[verb]


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_is_done_or_refused_with_a_reason(verb: str) -> None:
    for state in RunState:
        try_in(state, verb)


def try_in(state: RunState, verb: str) -> None:
    case, then = a_run_in(state), expected(verb, state)
    before = runs.the_run(case.run_id)

    if isinstance(then, RunState):
        VERBS[verb](case)
        assert runs.state_of(case.run_id) == then, state
        assert (runs.the_run(case.run_id).seq > before.seq) == (state not in FINAL), state
    else:
        refused: tuple[Any, ...] = (Exception, FenceLost, WaitClosed)
        with pytest.raises(refused, match=then):
            VERBS[verb](case)
        after = runs.the_run(case.run_id)
        assert (after.state, after.seq) == (before.state, before.seq), state
    if verb != "finish":
        assert violations([case.run_id]) == [], state
