"""People who look at pages, and runs for them to look at."""

import time
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.contrib.auth.models import Permission, User

from runs.definition import registry
from runs.engine.worker import Worker
from runs.ledger import lifecycle, plans
from runs.models import Run, Tenant
from runs.models.run import new_run_id
from runs.queries.clock import db_now
from runs.rules.plan import plan_of
from runs.rules.policy import local_operator

AGES = 600.0


def a_person(name: str = "mara", *permissions: str) -> User:
    """Somebody who may look, and what else is named: operate, view_payloads, decide."""
    person = User.objects.create_user(name)
    person.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    return person


def start(workflow: str, *, reference: str = "", tenant: str = "default", **given: Any) -> UUID:
    Tenant.objects.get_or_create(slug=tenant)
    return lifecycle.start(
        local_operator("tests"),
        workflow=workflow,
        data=given,
        reference=reference or None,
        tenant=tenant,
    ).id


def work() -> None:
    """Do all that is placed; afterwards every run has ended or waits."""
    worker = Worker(on_lost=lambda: None)
    worker.enlist()
    try:
        assert worker.drain_placed(until=time.monotonic() + AGES, stop=lambda: False)
    finally:
        worker.retire(because="the test is over")


def many_runs(
    amount: int,
    *,
    reference: str = "run",
    apart: timedelta = timedelta(0),
    tenant: str = "default",
    **more: Any,
) -> list[Run]:
    """Finished runs without a history, newest first, `apart` from one another; `more` are their fields."""
    owner, _ = Tenant.objects.get_or_create(slug=tenant)
    now = db_now()
    plan = plans.keep(plan_of(registry.latest("example_log")))
    return Run.objects.bulk_create(
        Run(**(_finished(owner, plan, f"{reference} {number}", number * apart, now=now) | more))
        for number in range(amount)
    )


def _finished(
    owner: Tenant, plan: str, reference: str, ago: timedelta, *, now: datetime
) -> dict[str, Any]:
    return {
        "id": new_run_id(),
        "tenant": owner,
        "workflow": "example_log",
        "version": 1,
        "plan_id": plan,
        "reference": reference,
        "input": "{}",
        "input_digest": "",
        "started_by": "tests",
        "state": "succeeded",
        "step": "count",
        "step_ordinal": 1,
        "steps_total": 1,
        "created_at": now - ago,
        "started_at": now - ago,
        "updated_at": now,
        "ended_at": now,
    }
