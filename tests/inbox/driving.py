"""Runs driven inside the test's own process: start, work, approve, let time pass."""

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from approvals.ledger import deciding, striking
from approvals.models import Decision
from approvals.queries.lists import plan_of
from runs.engine.worker import Worker
from runs.ledger import lifecycle, tenants, waking
from runs.models import PlannedCall, Run, Step, Tenant, Wait
from runs.queries.clock import db_now
from runs.rules import canonical
from runs.rules.policy import Actor, local_operator

LONG_ENOUGH = 600.0


def the_operator() -> Actor:
    return local_operator("tests")


def start(workflow: str, **given: Any) -> UUID:
    # Emptying the tables after a test takes this row of the first migration with it.
    Tenant.objects.get_or_create(slug=tenants.DEFAULT)
    return lifecycle.start(the_operator(), workflow=workflow, data=given).id


@contextmanager
def a_worker() -> Iterator[Worker]:
    worker = Worker(on_lost=lambda: None)
    worker.enlist()
    try:
        yield worker
    finally:
        worker.retire(because="the test is over")


def work() -> None:
    """Do all that is placed; afterwards every run has ended or waits."""
    with a_worker() as worker:
        assert worker.drain_placed(until=time.monotonic() + LONG_ENOUGH, stop=lambda: False)


def state_of(run_id: UUID) -> str:
    run = Run.objects.get(pk=run_id)
    return f"{run.state} {run.reason}".strip()


def facts_of(run_id: UUID) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for step in Step.objects.filter(run_id=run_id, superseded=False, state="succeeded"):
        found |= canonical.loads(step.facts)
    return found


def open_wait(run_id: UUID) -> Wait:
    return Wait.objects.get(run_id=run_id, state="open")


def open_decision(run_id: UUID) -> Decision:
    return Decision.objects.get(run_id=run_id, state="open")


def approve(run_id: UUID, *, strike: Iterable[str] = ()) -> int:
    """Approve the list that the run waits with, without the calls for these resources."""
    decision, struck = open_decision(run_id), set(strike)
    rows = PlannedCall.objects.filter(run_id=run_id, plan=plan_of(decision).name)
    off = [row.ordinal for row in rows if row.resource in struck]
    if off:
        striking.strike(the_operator(), decision.pk, ordinals=off, struck=True)
        decision.refresh_from_db()
    _decide(decision, "approve", shown=decision.digest)
    return decision.count


def respond(run_id: UUID, option: str, **fields: Any) -> None:
    decision = open_decision(run_id)
    _decide(decision, option, shown=decision.digest, fields=fields)


def _decide(
    decision: Decision, option: str, *, shown: str, fields: dict[str, Any] | None = None
) -> None:
    deciding.decide(
        the_operator(),
        decision.pk,
        option=option,
        fields=fields or {},
        comment="looked at in a test",
        shown_digest=shown,
        confirm=shown,
        through=deciding.Door(name="test"),
    )


def deliver(name: str, correlation_id: str, payload: dict[str, Any]) -> None:
    """An event arrives from outside."""
    tenant = Tenant.objects.get(slug=tenants.DEFAULT)
    waking.deliver_event(
        tenant_id=tenant.pk,
        name=name,
        correlation_id=correlation_id,
        message_id=f"{name} {correlation_id}",
        payload=payload,
        source="tests",
    )


def let_the_wait_fall_due(run_id: UUID) -> None:
    """Time passes until the clock closes the run's open wait."""
    wait = open_wait(run_id)
    Wait.objects.filter(pk=wait.pk).update(due_at=db_now())
    assert waking.expire(wait.pk)
