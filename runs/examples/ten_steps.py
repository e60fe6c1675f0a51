"""Ten steps with everything a run may do in them: what `drill` rehearses when it is told nothing else."""

from datetime import timedelta
from typing import Annotated, Any

from runs.definition import Approval, Contract, Effect, Retry, Run, Workflow, step
from runs.examples import ledger, queries, receivers
from runs.examples.conf import surroundings

RECEIPT = "ten_steps.receipt"
BRIEF = Retry(attempts=8, base=timedelta(milliseconds=50), maximum=timedelta(milliseconds=400))


def _answered(request: dict[str, Any], /) -> dict[str, Any]:
    return {"id": f"done-{request['resource']}"}


def _send(request: dict[str, Any], /, *, key: str, timeout: float) -> dict[str, Any]:
    return receivers.send_with_contract(_addressed(request), key=key, timeout=timeout)


def _find(key: str, request: dict[str, Any], /) -> dict[str, Any] | None:
    return receivers.find(key, _addressed(request))


def _addressed(request: dict[str, Any]) -> dict[str, Any]:
    """Outside of a drill the receiver is a file that counts what arrives."""
    return {**request, "receiver": str(surroundings().inboxes.with_name("ten_steps.jsonl"))}


reserve = Effect(
    "ten_steps.reserve",
    send=_send,
    contract=Contract("The same key twice is one reservation and one answer.", window=None),
    timeout=timedelta(seconds=2),
    reversible="A reservation lapses by itself.",
    id_of=lambda answer: answer["id"],
    cost=0.02,
    rehearsed=_answered,
)
pay = Effect(
    "ten_steps.pay",
    send=_send,
    contract=Contract("The same key twice is one payment and one answer.", window=None),
    timeout=timedelta(seconds=2),
    id_of=lambda answer: answer["id"],
    cost=0.25,
    rehearsed=_answered,
)
notify = Effect(
    "ten_steps.notify",
    send=_send,
    probe=_find,
    timeout=timedelta(seconds=1),
    reversible="A second notice under the same key is the same notice.",
    id_of=lambda answer: answer["id"],
    cost=0.01,
    rehearsed=_answered,
)


class Parity:
    """Judges by arithmetic, so that everybody can check it."""

    name = "ten_steps_parity"
    parameters: dict[str, int] = {"divisor": 2}

    def input_of(self, subject: int, /) -> dict[str, int]:
        return {"number": subject}

    def judge(self, question: str, seen: dict[str, int], /) -> dict[str, bool]:
        return {"even": seen["number"] % self.parameters["divisor"] == 0}


class TenSteps(Workflow):
    """Gather, weigh, reserve, propose, pay, await a receipt, cool down, book, notify, close."""

    name, version = "ten_steps", 1

    class Input:
        items: Annotated[int, "How many numbers are gathered."] = 12
        size: Annotated[int, "How many between two checkpoints."] = 4
        calls: Annotated[int, "How many reservations and payments."] = 2
        seconds: Annotated[float, "How long it cools down."] = 0.2

    @step(reads=["items", "size"], writes=["gathered"])
    def gather(self, run: Run) -> None:
        """Write a row for each number, a page between two checkpoints; a replay puts them anew."""
        for page in run.pages(range(1, run.read("items") + 1), size=run.read("size")):
            with run.checkpoint(cursor=page.end):
                ledger.put_entries(run.id, step=run.step, attempt=run.attempt, values=page.items)
            run.progress(page.end.ordinal, run.read("items"))
        run.write("gathered", queries.sum_of_entries(run.id, step=run.step))

    @step(reads=["items"], writes=["even"])
    def weigh(self, run: Run) -> None:
        """Judge every number; what was judged before a crash is kept."""
        even = 0
        for number in range(1, run.read("items") + 1):
            even += run.judge("Is it even?", number, by=Parity()).value["even"]
        run.write("even", even)

    @step(reads=["calls"], writes=["reserved"], effects=[reserve], retry=BRIEF)
    def reserve(self, run: Run) -> None:
        """Make keyed calls to a receiver that keeps a contract."""
        answers = [
            run.call(reserve, resource=number, request={"resource": f"seat-{number}"})
            for number in range(1, run.read("calls") + 1)
        ]
        run.write("reserved", [answer["id"] for answer in answers])

    @step(reads=["calls", "reserved"], writes=["payments"])
    def propose(self, run: Run) -> None:
        """Plan what cannot be undone; nothing is sent."""
        for number in range(1, run.read("calls") + 1):
            run.plan(
                "payments",
                pay,
                resource=number,
                request={"resource": f"invoice-{number}", "amount": 100 * number},
                evidence={"reserved": run.read("reserved")[number - 1]},
            )

    @step(
        reads=["payments"],
        writes=["paid"],
        effects=[pay],
        approval=Approval(of="payments", groups=("approvers",)),
        retry=BRIEF,
    )
    def pay(self, run: Run) -> None:
        """Make exactly the payments that a person has approved."""
        run.write("paid", dict(run.apply("payments")))

    @step(writes=["receipt"])
    def await_receipt(self, run: Run) -> None:
        """Park until the receipt has come."""
        run.write("receipt", run.wait_for(RECEIPT, correlation_id=str(run.id)))

    @step(reads=["seconds"], writes=["cooled"])
    def cool_down(self, run: Run) -> None:
        """Park until the time is over."""
        run.sleep("a_while", timedelta(seconds=run.read("seconds")))
        run.write("cooled", run.read("seconds"))

    @step(reads=["items"], writes=["booked"], transactional=True)
    def book(self, run: Run) -> None:
        """Write rows together with the record that the step is done, or not at all."""
        numbers = range(1, run.read("items") + 1)
        ledger.put_entries(run.id, step=run.step, attempt=run.attempt, values=numbers)
        run.write("booked", len(numbers))

    @step(reads=["booked"], writes=["notified"], effects=[notify], retry=BRIEF)
    def notify(self, run: Run) -> None:
        """Make a call whose receiver can be asked whether it happened."""
        answer = run.call(
            notify, resource="owner", request={"resource": "owner", "rows": run.read("booked")}
        )
        run.write("notified", answer["id"])

    @step(reads=["gathered", "even", "paid", "receipt", "booked", "notified"], writes=["summary"])
    def close(self, run: Run) -> None:
        """Say in one fact what came of it."""
        names = ("gathered", "even", "paid", "receipt", "booked", "notified")
        run.write("summary", {name: run.read(name) for name in names})
