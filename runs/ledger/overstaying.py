"""A run whose deadline is over asks a person whether it may go on, and holds no worker meanwhile."""

from collections.abc import Iterator
from datetime import datetime

from runs.definition import gates
from runs.ledger import assignments, lifecycle, openings, transitions
from runs.models import Run, Step, Wait
from runs.queries.stopped import stopped_at
from runs.rules import canonical
from runs.rules.chain import Draft
from runs.rules.limit_asks import deadline_over
from runs.rules.limits import Deadline
from runs.rules.states import AssignmentState, RunState, StepState, WaitKind
from runs.rules.written import ArtifactStored, StepPlace, WaitDraft


def ask(
    run: Run,
    standing: Deadline,
    progress: ArtifactStored,
    *,
    actor: str,
    fence: int,
    now: datetime,
) -> None:
    """Park a locked run with the question; the caller has kept its progress and closed its wait."""
    step = Step.objects.get(run=run, key=run.step, superseded=False)
    asked = deadline_over(stopped_at(run.pk), standing, progress=progress.name)
    opened = openings.open_wait(
        run,
        StepPlace(key=step.key, scope=step.scope, generation=step.generation, attempt=step.attempt),
        WaitDraft(
            name=f"deadline {standing.allowed.total_seconds():.0f} at {run.seq}",
            kind=WaitKind.DECISION,
            asks=canonical.dumps(asked),
        ),
        now=now,
    )
    assignments.close(
        run.pk, to=AssignmentState.RELEASED, outcome="asks about its deadline", now=now
    )
    gates.gate_for(opened.kind).open(openings.opened_wait(run, opened))
    Step.objects.filter(pk=step.pk).update(state=StepState.WAITING.value, fence=run.fence)
    _park(run, [*_told(run, standing, opened)], actor=actor, fence=fence, now=now)


def _park(run: Run, events: list[Draft], *, actor: str, fence: int, now: datetime) -> None:
    if run.state == RunState.WAITING:
        transitions.note(run, events=events, now=now, actor=actor, reason="")
        return
    reason = run.reason if run.pause_requested else ""
    transitions.move(
        run,
        to=RunState.WAITING,
        events=events,
        now=now,
        actor=actor,
        fence=fence,
        reason=reason,
    )
    if run.pause_requested:
        lifecycle.end_paused(run, because=reason, actor=actor, now=now, fence=fence)


def _told(run: Run, standing: Deadline, opened: Wait) -> Iterator[Draft]:
    yield standing.breach().event(step=run.step, then=RunState.WAITING.value)
    body = {"wait": opened.name, "kind": opened.kind, "due_at": None, "on_due": opened.on_due}
    yield Draft(kind="run.parked", step=run.step, body=canonical.dumps(body))
    reason = f"waits for a decision: {opened.name}"
    yield lifecycle.line(run, state=RunState.WAITING, reason=reason, in_flight=run.step)
