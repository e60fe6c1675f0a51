"""A workflow as an author writes it, for the tests of `runs.testing`."""

from datetime import timedelta
from typing import Any

from runs.definition import Approval, Contract, Effect, Retry, Run, Workflow, step


def _the_real_one(request: dict[str, Any], *, key: str, timeout: float) -> dict[str, Any]:
    raise AssertionError("the real receiver was called")


def _the_real_probe(key: str, request: dict[str, Any]) -> dict[str, Any] | None:
    raise AssertionError("the real probe was asked")


pay = Effect(
    "bank.refund",
    send=_the_real_one,
    contract=Contract("The same key is one refund.", window=timedelta(days=1)),
    id_of=lambda answer: answer["id"],
)
tell = Effect("mail.send", send=_the_real_one, probe=_the_real_probe, reversible="say sorry")


class Refund(Workflow):
    """Pay somebody back, a day later tell them, and write a letter when the bank is heard of."""

    name, version = "refund", 1

    class Input:
        order: str
        amount: int

    @step(reads=["order", "amount"], writes=["refunds"])
    def propose(self, run: Run) -> None:
        for part in range(2):
            run.plan(
                "refunds",
                pay,
                resource=f"{run.read('order')}/{part}",
                request={"amount": run.read("amount") + part},
            )

    @step(
        reads=["refunds"], effects=[pay], approval=Approval(of="refunds"), retry=Retry(attempts=3)
    )
    def refund(self, run: Run) -> None:
        run.apply("refunds")

    @step(reads=["order"], effects=[tell], retry=Retry(attempts=3, base=timedelta(minutes=5)))
    def inform(self, run: Run) -> None:
        run.sleep("a day", timedelta(days=1))
        run.call(tell, resource=run.read("order"), request={"text": "Paid."})

    @step(reads=["order"], writes=["booking"])
    def book(self, run: Run) -> None:
        came = run.wait_for("booked", correlation_id=run.read("order"), expires=timedelta(days=7))
        run.write("booking", came["number"])


class SmallRefund(Workflow):
    """Pay one sum back, as soon as somebody says so."""

    name, version = "small_refund", 1

    class Input:
        order: str
        amount: int

    @step(reads=["order", "amount"], effects=[pay])
    def refund(self, run: Run) -> None:
        run.call(pay, resource=run.read("order"), request={"amount": run.read("amount")})
