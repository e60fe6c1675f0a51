"""Lets an author run a workflow inside a test: the real engine, in the test's own process.

The test needs a database without a transaction of its own around it, since nothing may leave inside
one: `pytest.mark.django_db(transaction=True)`.
"""

import time
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from runs.definition.workflow import Workflow
from runs.engine.worker import Worker
from runs.ledger import lifecycle
from runs.queries import audit_line, resume, visibility
from runs.rules.policy import local_operator

LONG_ENOUGH = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How far a run came: its state, the facts it wrote, its steps, and the calls it made."""

    id: UUID
    state: str
    reason: str
    facts: dict[str, Any]
    steps: list[dict[str, Any]]
    calls: list[dict[str, Any]]


def run_workflow(workflow: type[Workflow], **given: Any) -> Outcome:
    """Start the workflow with this input, and work until its run has ended or waits."""
    started = lifecycle.start(
        local_operator("tests"), workflow=workflow.name, version=workflow.version, data=given
    )
    work()
    return outcome_of(started.id)


def work() -> None:
    """Do all that is placed, as a worker would; afterwards every run has ended or waits."""
    worker = Worker(on_lost=lambda: None)
    worker.enlist()
    try:
        worker.drain_placed(until=time.monotonic() + LONG_ENOUGH, stop=lambda: False)
    finally:
        worker.retire(because="the test is over")


def outcome_of(run_id: UUID) -> Outcome:
    """How far a run has come by now."""
    run = visibility.visible_runs(local_operator("tests")).get(pk=run_id)
    told = audit_line.steps_calls_waits(run_id)
    return Outcome(
        id=run_id,
        state=run.state,
        reason=run.reason,
        facts=resume.facts_of(run_id),
        steps=told["steps"],
        calls=told["calls"],
    )
