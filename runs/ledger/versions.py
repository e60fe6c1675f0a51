"""A run goes over to another plan, asks how it shall, or need not ask any more: one commit each."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from django.db import transaction

from runs.definition import gates
from runs.ledger import assignments, carrying, lifecycle, openings, plans, transitions, waits
from runs.ledger.commits import commits
from runs.models import Run, Step, Wait
from runs.queries.clock import db_now
from runs.queries.versions import NAME, Seen
from runs.rules import canonical
from runs.rules.asks import Ask
from runs.rules.carrying import Carry
from runs.rules.chain import Draft
from runs.rules.past import Past
from runs.rules.states import AssignmentState, RunState, StepState, WaitKind, WaitState
from runs.rules.versions import code_digests
from runs.rules.written import StepPlace, WaitDraft

ACTOR = "versions"


@commits("migration_committed", when=bool)
def carry_over(past: Past, carry: Carry, *, because: str, by: str = ACTOR) -> bool:
    """Take a queued run to another plan; False when it has moved since it was looked at.

    Raises PlanChanged when other runs were started with another plan of that version.
    """
    with transaction.atomic():
        plans.keep(carry.plan)
        run = transitions.lock(past.run_id)
        if run.state != RunState.QUEUED or run.seq != past.seq:
            return False
        now = db_now()
        rows = list(Step.objects.filter(run=run, superseded=False).order_by("ordinal"))
        before = {"version": run.version, "plan": run.plan_id, "input": run.input_digest}
        facts = (
            {}
            if carry.in_place
            else carrying.new_generation(run, carry, rows, because, by, now=now)
        )
        number = carrying.checkpoints(run, carry, facts, now=now)
        body = _body(run, carry, before, facts, rows, because)
        event = Draft(kind="run.version_changed", step=carry.at.key, body=canonical.dumps(body))
        assignments.close(
            run.pk, to=AssignmentState.RELEASED, outcome=f"version {carry.plan.version}", now=now
        )
        _move_over(run, carry, event, number=number, by=by, now=now)
    return True


def _body(
    run: Run,
    carry: Carry,
    before: dict[str, Any],
    facts: dict[str, dict[str, Any]],
    rows: Sequence[Step],
    because: str,
) -> dict[str, Any]:
    superseded = [] if carry.in_place else rows[carry.kept :]
    return {
        "from": before,
        "to": {
            "version": carry.plan.version,
            "plan": carry.plan.hash,
            "input": canonical.digest(canonical.dumps(carry.input)),
        },
        "because": because,
        "code": code_digests(carry.plan),
        "generation": run.generation,
        "step": carry.at.key,
        "cursor": carry.cursor.ordinal,
        "kept": carry.kept,
        "carried": {
            key: canonical.digest(canonical.dumps(written)) for key, written in facts.items()
        },
        "superseded": [
            {"key": row.key, "generation": row.generation, "state": row.state} for row in superseded
        ],
        "void": list(carry.voided),
        "dropped": list(carry.dropped),
    }


def _move_over(
    run: Run, carry: Carry, event: Draft, *, number: int, by: str, now: datetime
) -> None:
    text = canonical.dumps(carry.input)
    run.step = carry.at.key
    assignments.place(run, reason=f"taken along to version {carry.plan.version}", now=now)
    transitions.note(
        run,
        events=[event],
        now=now,
        actor=by,
        version=carry.plan.version,
        plan_id=carry.plan.hash,
        steps_total=len(carry.plan.steps),
        step=carry.at.key,
        step_ordinal=carry.at.ordinal,
        generation=run.generation,
        checkpoint=number,
        input=text,
        input_digest=canonical.digest(text),
        reason="",
    )


@commits("parked", when=bool)
def ask(past: Past, asked: Ask) -> bool:
    """Park a queued run until a person says how it goes on; False when it has moved since."""
    with transaction.atomic():
        run = transitions.lock(past.run_id)
        if run.state != RunState.QUEUED or run.seq != past.seq:
            return False
        now = db_now()
        step = Step.objects.get(run=run, key=run.step, superseded=False)
        place = StepPlace(
            key=step.key, scope=step.scope, generation=step.generation, attempt=step.attempt
        )
        draft = WaitDraft(
            name=f"{NAME}{asked['evidence']['to']['version']} at {run.seq}",
            kind=WaitKind.DECISION,
            asks=canonical.dumps(asked),
        )
        opened = openings.open_wait(run, place, draft, now=now)
        assignments.close(
            run.pk, to=AssignmentState.RELEASED, outcome="asks about its version", now=now
        )
        gates.gate_for(opened.kind).open(openings.opened_wait(run, opened))
        Step.objects.filter(pk=step.pk).update(state=StepState.WAITING.value, fence=run.fence)
        transitions.move(
            run,
            to=RunState.WAITING,
            events=list(_asked(run, opened)),
            now=now,
            actor=ACTOR,
            reason="",
        )
    return True


def _asked(run: Run, opened: Wait) -> Iterator[Draft]:
    body = {"wait": opened.name, "kind": opened.kind, "due_at": None, "on_due": opened.on_due}
    yield Draft(kind="run.parked", step=run.step, body=canonical.dumps(body))
    reason = f"waits for a decision: {opened.name}"
    yield lifecycle.line(run, state=RunState.WAITING, reason=reason, in_flight=run.step)


@commits("resume_placed", when=bool)
def need_not_ask(seen: Seen, *, because: str) -> bool:
    """The code of the run's own plan is back: nobody is asked any more, and the run goes on."""
    with transaction.atomic():
        run = transitions.lock(seen.id)
        if run.state != RunState.WAITING or run.seq != seen.seq:
            return False
        now = db_now()
        wait = Wait.objects.get(run=run, state=WaitState.OPEN.value)
        waits.close(run, wait, to=WaitState.WITHDRAWN, answer=None, by=ACTOR, now=now)
        gates.gate_for(wait.kind).withdraw(run.pk, because)
        body = {"wait": wait.name, "kind": wait.kind, "state": wait.state, "by": ACTOR}
        closed = Draft(kind="wait.closed", step=wait.step, body=canonical.dumps(body))
        transitions.move(run, to=RunState.QUEUED, events=[closed], now=now, actor=ACTOR, reason="")
        assignments.place(run, reason=because[:300], now=now)
    return True
