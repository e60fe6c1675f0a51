"""A run that nobody holds comes to its end: its waits, its decisions, its steps, its line, itself."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from runs.definition import gates
from runs.ledger import transitions
from runs.models import Run, Step, Wait
from runs.queries.audit_line import audit_line
from runs.queries.in_doubt import calls_in_doubt
from runs.rules import canonical
from runs.rules.chain import Draft
from runs.rules.states import RunState, StepState, WaitState


def end(
    run: Run,
    *,
    to: RunState,
    because: str,
    actor: str,
    now: datetime,
    fence: int = 0,
    facts: Mapping[str, Any] | None = None,
) -> None:
    """Close a locked run whose assignment is closed; `facts` go into the event beside the reason."""
    withdrawn = Wait.objects.filter(run=run, state=WaitState.OPEN.value).update(
        state=WaitState.WITHDRAWN.value, closed_at=now, closed_by=actor, fence=run.fence
    )
    if withdrawn:
        for kind in gates.registered():
            gates.gate_for(kind).withdraw(run.pk, because)
    Step.objects.filter(run=run, superseded=False).exclude(
        state__in=[StepState.SUCCEEDED.value, StepState.FAILED.value]
    ).update(state=StepState.SKIPPED.value, ended_at=now, fence=run.fence)
    doubts = calls_in_doubt(run.pk)
    body = {"because": because, **({"in_doubt": doubts} if doubts else {}), **(facts or {})}
    transitions.move(
        run,
        to=to,
        events=[
            Draft(kind=f"run.{to.value}", step=run.step, body=canonical.dumps(body)),
            line(run, state=to, reason=because, in_flight=run.step),
        ],
        now=now,
        actor=actor,
        fence=fence,
        reason=because,
    )


def line(run: Run, *, state: RunState, reason: str, in_flight: str = "") -> Draft:
    """The audit line as an event."""
    body = audit_line(run, state=state.value, reason=reason, in_flight=in_flight)
    return Draft(kind="audit.line", body=canonical.dumps(body))
