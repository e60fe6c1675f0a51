"""Runs whose approval takes more than one person of a group."""

import itertools
from typing import Any

from django.contrib.auth.models import User

from approvals.models import Decision
from runs.definition import Approval, Effect, Workflow, registry, step
from tests.approvals.builders import a_person, acting, asked_by
from tests.support import runs

numbers = itertools.count(1)
EVERYTHING = ("decide", "view_payloads", "operate")
wire = Effect("bank.wire", send=lambda request, *, key, timeout: {"id": key})
note = Effect("wall.note", send=lambda request, *, key, timeout: {"id": key}, reversible="Rub out.")


def a_workflow(approval: Approval, *, effect: Effect = wire) -> type[Workflow]:
    """Two payments that are planned, approved as declared, and made."""
    with registry.isolated():

        class Agreed(Workflow):
            """Plans two, asks, makes them."""

            name, version = f"agreed_{next(numbers)}", 1

            @step(writes=["payments"])
            def propose(self, run: Any) -> None:
                for to in ("a", "b"):
                    run.plan("payments", effect, resource=to, request={"to": to})

            @step(reads=["payments"], effects=[effect], approval=approval)
            def settle(self, run: Any) -> None:
                run.apply("payments")

    return Agreed


def asking(
    *, by: User | None = None, effect: Effect = wire, tenant: str = "default", **approval: Any
) -> Decision:
    """The decision of such a run; `by` is who started it."""
    approval = {"groups": ["approvers"]} | approval
    workflow = a_workflow(Approval(of="payments", **approval), effect=effect)
    registry.register(workflow)
    actor = acting(by) if by else None
    run_id = runs.a_run(workflow, actor=actor, tenant=tenant)
    runs.drain()
    return asked_by(run_id)


def somebody(name: str, *groups: str, **more: Any) -> User:
    """Who may start runs and answer."""
    return a_person(name, groups=groups or ("approvers",), permissions=EVERYTHING, **more)
