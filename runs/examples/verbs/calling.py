"""Changing the outside world: by contract, with a probe, with neither, and by an approved plan."""

import time
from datetime import timedelta
from typing import Annotated, Any

from runs.definition import Approval, Contract, Effect, Run, Waived, Workflow, step
from runs.examples import receivers
from runs.examples.verbs.marks import Pause

Receiver = Annotated[str, "A file that counts what arrives, or an http address."]

pay_by_contract = Effect(
    "example.pay_by_contract",
    send=receivers.send_with_contract,
    contract=Contract("The same key twice is one payment and one answer.", window=None),
    timeout=timedelta(seconds=10),
    id_of=lambda answer: answer["id"],
)
pay_with_probe = Effect(
    "example.pay_with_probe",
    send=receivers.send_plainly,
    probe=receivers.find,
    timeout=timedelta(seconds=10),
    id_of=lambda answer: answer["id"],
)
pay_blindly = Effect(
    "example.pay_blindly",
    send=receivers.send_plainly,
    timeout=timedelta(seconds=10),
    id_of=lambda answer: answer["id"],
)


class _OneCall(Workflow, abstract=True):
    """One payment to a receiver, slow before or after its effect if told so."""

    class Input:
        receiver: Receiver
        amount: int = 100
        refuse: Annotated[str, "A reason for which the receiver refuses; empty: it does not."] = ""
        before_effect: Annotated[float, "Seconds between arrival and effect."] = 0.0
        after_effect: Annotated[float, "Seconds between effect and answer."] = 0.0
        pause: Pause = 0.0


CALL = ("receiver", "amount", "refuse", "before_effect", "after_effect", "pause")
WAIVED = Waived("The receiver is a counter made for this example.")


class ExampleCallContract(_OneCall):
    """One call to a receiver that keeps a contract: after a crash it is sent again, safely."""

    name, version = "example_call_contract", 1

    @step(reads=CALL, writes=["receipt"], effects=[pay_by_contract], approval=WAIVED)
    def pay(self, run: Run) -> None:
        """Send one payment under its key."""
        _pay(run, pay_by_contract)


class ExampleCallProbe(_OneCall):
    """One call to a receiver that can be asked what happened: after a crash it is looked up."""

    name, version = "example_call_probe", 1

    @step(reads=CALL, writes=["receipt"], effects=[pay_with_probe], approval=WAIVED)
    def pay(self, run: Run) -> None:
        """Send one payment under its key."""
        _pay(run, pay_with_probe)


class ExampleCallNeither(_OneCall):
    """One call to a receiver that promises nothing: after a crash a person is asked."""

    name, version = "example_call_neither", 1

    @step(reads=CALL, writes=["receipt"], effects=[pay_blindly], approval=WAIVED)
    def pay(self, run: Run) -> None:
        """Send one payment under its key."""
        _pay(run, pay_blindly)


class ExamplePlan(Workflow):
    """Plans some payments, has the list approved, and makes exactly those."""

    name, version = "example_plan", 1

    class Input:
        receiver: Receiver
        count: int = 3
        after_effect: Annotated[float, "Seconds between effect and answer, for each."] = 0.0
        pause: Pause = 0.0

    @step(reads=["receiver", "count", "after_effect", "pause"], writes=["payments"])
    def propose(self, run: Run) -> None:
        """Nothing is sent here; each planned call carries the evidence for it."""
        for number in range(1, run.read("count") + 1):
            request = {
                "receiver": run.read("receiver"),
                "resource": f"invoice-{number}",
                "amount": 100 * number,
                "after_effect": run.read("after_effect"),
            }
            evidence = {"invoice": number, "because": "It is due."}
            run.plan(
                "payments",
                pay_by_contract,
                resource=f"invoice-{number}",
                request=request,
                evidence=evidence,
            )
        time.sleep(run.read("pause"))

    @step(
        reads=["payments"],
        writes=["paid"],
        effects=[pay_by_contract],
        approval=Approval(of="payments", groups=("approvers",)),
    )
    def pay(self, run: Run) -> None:
        """Make the approved calls, each once."""
        run.write("paid", dict(run.apply("payments")))


def _pay(run: Run, effect: Effect) -> None:
    time.sleep(run.read("pause"))
    request: dict[str, Any] = {name: run.read(name) for name in CALL if name != "pause"}
    answer = run.call(effect, resource="invoice-1", request={**request, "resource": "invoice-1"})
    run.write("receipt", answer["id"])
