"""Workflows that wait for an event, and what came of it."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any
from uuid import UUID

from runs.definition import Workflow, registry, step
from tests.support import runs

ORDER = "order-7"


@contextmanager
def waits_for_payment(
    *, expires: timedelta | None = None, on_expiry: str = "fail", correlation: str = ORDER
) -> Iterator[str]:
    """The only workflow that is known meanwhile: one step that waits for `order.paid`."""

    def wait(self: Any, run: Any) -> None:
        paid = run.wait_for(
            "order.paid", correlation_id=correlation, expires=expires, on_expiry=on_expiry
        )
        run.write("paid", paid)

    members = {
        "name": "waits_for_payment",
        "version": 1,
        "Input": type("Input", (), {"__annotations__": {"n": int}, "n": 1}),
        "wait": step(reads=["n"], writes=["paid"])(wait),
        "__doc__": "One step.",
    }
    with registry.isolated():
        type("WaitsForPayment", (Workflow,), members)
        yield "waits_for_payment"


def a_waiting_run() -> UUID:
    run_id = runs.a_run("waits_for_payment")
    runs.drain()
    assert runs.open_wait(run_id).kind == "event"
    return run_id
