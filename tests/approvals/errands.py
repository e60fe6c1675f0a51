"""One errand of three steps that goes wrong in the middle as a test asks it to; it tells what it did."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from runs.definition import Effect, Probe, Refused, Retry, Workflow, step

CHARGE, UNDO = "shop.charge", "shop.refund"
Find = Callable[[str, dict[str, Any]], dict[str, Any] | None]


@dataclass(slots=True)
class World:
    """`goes_wrong` is how the middle step fails, once; `sent` is what arrived, `entered` which bodies ran."""

    goes_wrong: str = ""
    sent: list[tuple[str, str, Any]] = field(default_factory=list)
    entered: list[str] = field(default_factory=list)
    found: Any = None
    asked: int = 0

    @property
    def keys(self) -> list[str]:
        return [key for key, _, _ in self.sent]

    def charge(self, request: dict[str, Any], *, key: str, timeout: float) -> dict[str, Any]:
        self.sent.append((key, "charge", request))
        if self._now("silent"):
            raise TimeoutError("no answer in time")
        if self._now("refused"):
            raise Refused("the card is closed")
        return {"id": f"ch-{len(self.sent)}"}

    def refund(self, request: dict[str, Any], *, key: str, timeout: float) -> dict[str, Any]:
        self.sent.append((key, "refund", request))
        return {"id": f"re-{len(self.sent)}"}

    def find(self, key: str, request: dict[str, Any]) -> dict[str, Any] | None:
        self.asked += 1
        if isinstance(self.found, Exception):
            raise self.found
        return dict(self.found) if self.found else None

    def _now(self, wrong: str) -> bool:
        """Each goes wrong once."""
        if self.goes_wrong != wrong:
            return False
        self.goes_wrong = ""
        return True

    def body_of_the_middle(self, run: Any, effect: Effect) -> None:
        self.entered.append("charge")
        amount = run.read("amount")
        if self.goes_wrong == "changes its mind" and run.attempt > 1:
            amount += 1
        run.write("receipt", run.call(effect, resource="order-1", request={"amount": amount}))
        if self._now("fails") or (self.goes_wrong == "changes its mind" and run.attempt == 1):
            raise ConnectionError("the till is away")


def an_errand(
    world: World,
    *,
    probe: bool = False,
    undo: bool = False,
    attempts: int = 1,
    redact: tuple[str, ...] = (),
) -> type[Workflow]:
    """Gather, charge, report; only the middle step reaches outside."""
    effect = Effect(
        CHARGE,
        send=world.charge,
        timeout=timedelta(seconds=5),
        reversible=None if undo else "a second charge is paid back",
        compensate=Effect(UNDO, send=world.refund, reversible="it is a refund") if undo else None,
        probe=Probe(find=world.find) if probe else None,
        id_of=lambda answer: answer["id"],
        redact=redact,
    )

    class Errand(Workflow):
        """Gather, charge, report."""

        name, version = "errand", 1

        class Input:
            amount: int = 7

        @step(reads=["amount"], writes=["gathered"])
        def gather(self, run: Any) -> None:
            world.entered.append("gather")
            run.write("gathered", run.read("amount"))

        @step(
            reads=["amount"],
            writes=["receipt"],
            effects=[effect],
            retry=Retry(attempts=attempts, base=timedelta(milliseconds=1), jitter=0),
            may_skip=True,
        )
        def charge(self, run: Any) -> None:
            world.body_of_the_middle(run, effect)

        @step(writes=["reported"])
        def report(self, run: Any) -> None:
            world.entered.append("report")
            run.write("reported", True)

    return Errand
