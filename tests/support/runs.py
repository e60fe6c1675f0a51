"""Runs driven inside the test's own process: start, work, answer, let time pass, damage."""

import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from uuid import UUID, uuid4

from django.core.management import call_command
from django.db import connection, transaction

from runs.definition import Workflow
from runs.engine.clockwork import Clockwork
from runs.engine.worker import Worker
from runs.ledger import lifecycle, waking
from runs.models import PlannedCall, Run, Step, Tenant, Wait, guards
from runs.queries import memberships
from runs.queries.clock import db_now
from runs.rules import canonical
from runs.rules.planned import list_digest
from runs.rules.policy import Actor, local_operator
from tests.support.waiting import PATIENCE

LONG_ENOUGH = 110.0
MOST_ROUNDS = 50


def the_operator() -> Actor:
    return local_operator("tests")


def the_tenant(slug: str = memberships.DEFAULT) -> Tenant:
    """Emptying the tables after a test takes the row of the first migration with it."""
    return Tenant.objects.get_or_create(slug=slug)[0]


def a_run(
    workflow: str | type[Workflow],
    data: Mapping[str, Any] | None = None,
    *,
    actor: Actor | None = None,
    tenant: str = memberships.DEFAULT,
    **more: Any,
) -> UUID:
    """A run that has just been started: placed, in nobody's hands."""
    the_tenant(tenant)
    name = workflow if isinstance(workflow, str) else workflow.name
    started = lifecycle.start(
        actor or the_operator(), workflow=name, data=data or {}, tenant=tenant, **more
    )
    return started.id


@contextmanager
def a_worker() -> Iterator[Worker]:
    """This process as a worker, for as long as the block lasts."""
    worker = Worker(on_lost=lambda: None)
    worker.enlist()
    try:
        yield worker
    finally:
        worker.retire(because="the test is over")


def wait_for_keepers() -> None:
    """Before a fork: a keeper that is in the database just then would leave its locks in the child."""
    for thread in threading.enumerate():
        if thread.name == "lease-keeper":
            thread.join(PATIENCE)


def drain() -> None:
    """Do all that is placed; afterwards every run has ended or waits."""
    with a_worker() as worker:
        assert worker.drain_placed(until=time.monotonic() + LONG_ENOUGH, stop=lambda: False)


def take_the_first_step(run_id: UUID) -> None:
    """Work on it, and hand it back behind its first checkpoint."""
    with a_worker() as worker:
        worker.drain_placed(until=float("inf"), stop=lambda: the_run(run_id).checkpoint > 0)


def the_run(run_id: UUID) -> Run:
    return Run.objects.get(pk=run_id)


def the_step(run_id: UUID, key: str) -> Step:
    return Step.objects.get(run_id=run_id, key=key, superseded=False)


def state_of(run_id: UUID) -> str:
    return the_run(run_id).state


def facts_of(run_id: UUID) -> dict[str, Any]:
    """What the finished steps have written."""
    found: dict[str, Any] = {}
    for step in Step.objects.filter(run_id=run_id, superseded=False, state="succeeded"):
        found |= canonical.loads(step.facts)
    return found


def open_wait(run_id: UUID) -> Wait:
    return Wait.objects.get(run_id=run_id, state="open")


def answer(run_id: UUID, option: str, *, by: str = "ann", **more: Any) -> None:
    """Answer what the run asks; `more` are the fields of the answer beside the option."""
    wait = open_wait(run_id)
    asked = next(each for each in asked_of(wait)["options"] if each["key"] == option)
    with transaction.atomic():
        waking.answer(wait.pk, answer={"option": option, **more}, by=by, then=asked["then"])


def asked_of(wait: Wait) -> Any:
    return canonical.loads(wait.subject)


def approve(run_id: UUID, *, strike: Iterable[str] = (), by: str = "ann") -> int:
    """Approve what the run waits with; of a list, all but the calls for these resources."""
    plan = asked_of(open_wait(run_id))["plan"]
    if plan is None:
        answer(run_id, "approve", by=by)
        return 1
    struck = set(strike)
    planned = PlannedCall.objects.filter(run_id=run_id, plan=plan["name"])
    rows = list(planned.filter(generation=plan["generation"]).order_by("ordinal"))
    kept = [row for row in rows if row.resource not in struck]
    answer(
        run_id,
        "approve",
        by=by,
        digest=list_digest(row.digest for row in kept),
        struck=[row.ordinal for row in rows if row.resource in struck],
    )
    return len(kept)


def deliver(name: str, correlation_id: str, payload: Mapping[str, Any], **more: Any) -> str:
    """An event from outside; it has its own message id unless one is given."""
    message = {"message_id": str(uuid4()), "source": "tests", **more}
    return waking.deliver_event(
        tenant_id=the_tenant().pk,
        name=name,
        correlation_id=correlation_id,
        payload=payload,
        **message,
    )


def let_it_be_due(run_id: UUID) -> None:
    """Time passes until the clock closes the run's open wait."""
    Wait.objects.filter(pk=open_wait(run_id).pk).update(due_at=db_now())
    Clockwork().go_round()


def work_through(run_id: UUID) -> str:
    """Work, and let timers and retries fall due, until the run ends or asks somebody."""
    for _ in range(MOST_ROUNDS):
        drain()
        wait = Wait.objects.filter(run_id=run_id, state="open").first()
        if wait is None or wait.kind not in ("timer", "retry"):
            return state_of(run_id)
        let_it_be_due(run_id)
    raise AssertionError(f"run {run_id} still has not come to rest: {state_of(run_id)}")


def with_guards() -> None:
    """What a migration does at its end."""
    call_command("migrate", verbosity=0)


def without_guards() -> None:
    """Drop the triggers that would refuse what the test is about to do; roll it back afterwards."""
    with connection.cursor() as cursor:
        for table, event, _ in guards.grouped():
            on = f" ON {table}" if connection.vendor == "postgresql" else ""
            cursor.execute(f"DROP TRIGGER {guards.name_of(table, event)}{on}")
