"""A workflow that does everything once, and a run of it: what `verify` has to understand."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from runs.definition import (
    Approval,
    Contract,
    Effect,
    Retry,
    Waived,
    Workflow,
    step,
)
from tests.support import runs

PROMISE = Contract("The same key is one call and one answer.", window=None)


def answers(request: dict[str, Any], *, key: str, timeout: float) -> dict[str, Any]:
    return {"id": f"at the receiver {key[-6:]}"}


pay = Effect("shop.pay", send=answers, contract=PROMISE, id_of=lambda answer: answer["id"])
burn = Effect("shop.burn", send=answers, contract=PROMISE)
note = Effect("shop.note", send=answers, contract=PROMISE, reversible="A second note does no harm.")


class Scale:
    """Judges whether a number is even."""

    name = "scale"
    parameters = {"limit": 1}

    def input_of(self, subject: int) -> int:
        return subject

    def judge(self, question: str, input: int) -> dict[str, Any]:  # noqa: A002
        return {"even": input % 2 == 0}


class EverythingOnce(Workflow, abstract=True):
    """Everything once."""

    class Input:
        count: int = 5

    @step(reads=["count"], writes=["judged"], effects=[note])
    def judge(self, run: Any) -> None:
        """Notes before and on each page; every page is a checkpoint."""
        run.call(note, resource="begin", request={})
        for page in run.pages(list(range(run.read("count"))), size=2):
            for number in page:
                run.judge("is it even?", number, by=Scale())
            run.call(note, resource=f"page {page.end.ordinal}", request={})
            run.call(note, resource="begin", request={})
            with run.checkpoint(cursor=page.end):
                pass
        run.log("judged")
        run.write("judged", run.read("count"))

    @step(reads=["judged"], writes=["payments"])
    def propose(self, run: Any) -> None:
        for number in range(run.read("judged")):
            run.plan(
                "payments", pay, resource=number, request={"amount": number}, evidence=[number]
            )

    @step(
        reads=["payments"],
        writes=["paid"],
        effects=[pay],
        approval=Approval(of="payments", groups=("approvers",)),
    )
    def purchase(self, run: Any) -> None:
        run.write("paid", dict(run.apply("payments")))

    @step(effects=[burn])
    def burn_one(self, run: Any) -> None:
        """Nothing covers this call, so it asks by itself."""
        run.call(burn, resource="paper", request={"sheets": 3})

    @step(effects=[burn], approval=Waived("It is only paper."))
    def burn_more(self, run: Any) -> None:
        run.call(burn, resource="card", request={"sheets": 4})

    @step(writes=["told"], retry=Retry(attempts=3, base=timedelta(seconds=1)))
    def listen(self, run: Any) -> None:
        if run.attempt == 1:
            raise RuntimeError("not yet")
        run.sleep("a while", timedelta(hours=1))
        said = run.ask("colour", question="Which colour?", options=("red", "blue"))
        paid = run.wait_for("paid", correlation_id="7")
        run.artifact("report.txt", b"all well", "text/plain")
        run.write("told", [said["option"], paid["sum"]])


def a_whole_workflow() -> type[Workflow]:
    class Whole(EverythingOnce):
        """Everything once."""

        name, version = "whole", 1

    return Whole


def a_whole_run() -> UUID:
    """Driven to its end; one payment was struck off."""
    run_id = a_run_that_asks_for_payments()
    runs.approve(run_id, strike=["3"])
    runs.work_through(run_id)
    runs.approve(run_id)
    runs.work_through(run_id)
    runs.answer(run_id, "blue", fields={})
    runs.drain()
    runs.deliver("paid", "7", {"sum": 12})
    runs.drain()
    assert runs.state_of(run_id) == "succeeded"
    return run_id


def a_run_that_asks_for_payments() -> UUID:
    run_id = runs.a_run("whole")
    runs.drain()
    assert runs.state_of(run_id) == "waiting"
    return run_id


def a_nap() -> type[Workflow]:
    class Nap(Workflow):
        name, version = "nap", 1

        @step(writes=["rested"])
        def nap(self, run: Any) -> None:
            run.sleep("an hour", timedelta(hours=1))
            run.write("rested", True)

    return Nap


def a_failure() -> type[Workflow]:
    class Failure(Workflow):
        name, version = "failure", 1

        @step(writes=["nothing"], retry=Retry(attempts=1), on_exhausted="stop")
        def fail(self, run: Any) -> None:
            raise RuntimeError("out of paper")

    return Failure
