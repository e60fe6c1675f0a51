"""The row of a wait, and what its gate is told of it."""

from datetime import datetime, timedelta
from typing import Any

from runs.definition import gates
from runs.models import Run, Wait
from runs.rules import canonical
from runs.rules.states import WaitKind, WaitState
from runs.rules.written import StepPlace, WaitDraft


def open_wait(run: Run, place: StepPlace, wait: WaitDraft, *, now: datetime) -> Wait:
    """The row of a wait on a locked run; the caller parks the run.

    One that was withdrawn when its run was stopped is opened again; a timer keeps its time.
    """
    after = wait.after_seconds
    named = {"run": run, "step": place.key, "generation": place.generation, "name": wait.name}
    values = {
        "kind": wait.kind,
        "fence": run.fence,
        "due_at": None if after is None else now + timedelta(seconds=after),
        "on_due": wait.on_due,
        "event_name": wait.event_name,
        "correlation_id": wait.correlation_id,
        "subject": wait.asks,
        "opened_at": now,
    }
    withdrawn = Wait.objects.filter(**named, state="withdrawn", superseded=False)
    if place.attempt > 1 and (again := withdrawn.first()):
        return _open_again(again, values)
    return Wait.objects.create(**named, **values)


def _open_again(wait: Wait, values: dict[str, Any]) -> Wait:
    if wait.kind == WaitKind.TIMER:
        values["due_at"] = wait.due_at
    for name, value in {**values, "state": WaitState.OPEN.value, "closed_at": None}.items():
        setattr(wait, name, value)
    wait.closed_by = ""
    wait.save()
    return wait


def opened_wait(run: Run, wait: Wait) -> gates.OpenedWait:
    """What a gate is told of a wait."""
    return gates.OpenedWait(
        wait_id=wait.pk,
        kind=wait.kind,
        name=wait.name,
        run_id=run.pk,
        tenant_id=run.tenant_id,
        workflow=run.workflow,
        step=wait.step,
        generation=wait.generation,
        asks=canonical.loads(wait.subject),
        expires_at=wait.due_at,
        on_due=wait.on_due,
    )
