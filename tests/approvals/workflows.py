"""Small workflows that stop for every kind of decision."""

from datetime import timedelta
from typing import Any

from runs.definition import (
    Approval,
    Contract,
    Effect,
    Refused,
    Retry,
    Waived,
    Workflow,
    registry,
    step,
)

TRICKY = "pay\u202eten\x07"
SENT: list[tuple[str, str]] = []


def send(request: dict[str, Any], *, key: str, timeout: float) -> dict[str, Any]:
    SENT.append((key, request["to"]))
    match request.get("behaves"):
        case "silent":
            raise TimeoutError("no answer in time")
        case "refuses":
            raise Refused("the account is closed")
    return {"id": f"r-{key[-6:]}"}


pay = Effect("shop.pay", send=send, contract=Contract("One payment a key.", window=None))
wire = Effect("shop.wire", send=send)


def made() -> list[type[Workflow]]:
    """Made anew in a registry of their own, so that they are nobody else's."""
    with registry.isolated():
        return [_payments(), _two_lists(), _one_call(), _one_wire(), _question(), _flaky()]


def _payments() -> type[Workflow]:
    class Payments(Workflow):
        """Plans payments, has the list approved, makes them."""

        name, version = "payments", 1

        class Input:
            count: int = 3
            text: str = "due"

        @step(reads=["count", "text"], writes=["payments"])
        def propose(self, run: Any) -> None:
            for number in range(1, run.read("count") + 1):
                run.plan(
                    "payments",
                    pay,
                    resource=f"invoice-{number}",
                    request={"to": f"invoice-{number}", "amount": number * 100},
                    evidence={"from": f"shop {number}", "text": run.read("text"), "score": number},
                )

        @step(
            reads=["payments"],
            writes=["paid"],
            effects=[pay],
            approval=Approval(
                of="payments",
                groups=["approvers"],
                expires=timedelta(days=3),
                on_expiry="cancel",
            ),
        )
        def settle(self, run: Any) -> None:
            run.write("paid", dict(run.apply("payments")))

    return Payments


def _two_lists() -> type[Workflow]:
    class Anybody(Workflow):
        """A list that whoever may decide may approve, and that no clock closes."""

        name, version = "anybody", 1

        @step(writes=["payments"])
        def propose(self, run: Any) -> None:
            run.plan("payments", pay, resource="a", request={"to": "a"}, evidence=TRICKY)

        @step(reads=["payments"], effects=[pay], approval=Approval(of="payments"))
        def settle(self, run: Any) -> None:
            run.apply("payments")

    return Anybody


def _one_call() -> type[Workflow]:
    class OneCall(Workflow):
        """One call that cannot be undone, which no list covers."""

        name, version = "one_call", 1

        class Input:
            behaves: str = ""

        @step(reads=["behaves"], writes=["receipt"], effects=[wire])
        def settle(self, run: Any) -> None:
            request = {"to": TRICKY, "amount": 7, "behaves": run.read("behaves")}
            run.write("receipt", run.call(wire, resource="order-1", request=request))

    return OneCall


def _one_wire() -> type[Workflow]:
    class Wire(Workflow):
        """One call, waived in writing, whose result may stay unknown."""

        name, version = "wire", 1

        class Input:
            behaves: str = "silent"

        @step(reads=["behaves"], writes=["receipt"], effects=[wire], approval=Waived("A test."))
        def settle(self, run: Any) -> None:
            request = {"to": "order-1", "behaves": run.read("behaves")}
            run.write("receipt", run.call(wire, resource="order-1", request=request))

    return Wire


def _question() -> type[Workflow]:
    class Question(Workflow):
        """A question with a form."""

        name, version = "question", 1

        class Input:
            group: str = ""

        @step(reads=["group"], writes=["answer"])
        def ask(self, run: Any) -> None:
            fields = {
                "amount": {"type": "int", "label": "Amount", "help": "In cents."},
                "currency": {"type": "str", "choices": ["EUR", "USD"], "required": False},
            }
            answer = run.ask(
                "how much",
                question="How much may be paid back?",
                options=("pay_back", "refuse"),
                fields=fields,
                evidence={
                    "order": "A-17",
                    "paid_back_before": [],
                    "payments": [{"day": 3, "amount": 4200}, {"day": 9, "by_card": True}],
                },
                groups=[run.read("group")] if run.read("group") else [],
            )
            run.write("answer", answer)

    return Question


def _flaky() -> type[Workflow]:
    class Flaky(Workflow):
        """A step that fails until it gives up and asks."""

        name, version = "flaky", 1

        @step(writes=["done"], retry=Retry(attempts=1))
        def try_it(self, run: Any) -> None:
            if run.attempt == 1:
                raise ConnectionError("not now")
            run.write("done", True)

    return Flaky
