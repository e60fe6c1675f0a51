"""A shop that tests call: it remembers what it was told, and misbehaves as a test asks it to."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from runs.definition import Contract, Effect, Probe, Retry, Workflow, registry, step

AT_ONCE = Retry(attempts=3, base=timedelta(milliseconds=1), maximum=timedelta(milliseconds=2))
FOR_EVER = Contract("The same key is one sale.", window=None)
FOR_AN_HOUR = Contract("The same key is one sale, for an hour.", window=timedelta(hours=1))
HARMLESS = "A second one does no harm."


@dataclass(slots=True)
class Shop:
    """`answers` are given one after the other: raised if they are exceptions; the last one stays."""

    answers: list[Any] = field(default_factory=lambda: [{"id": "sale-1"}])
    heard: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    found: dict[str, Any] | None = None
    asked: list[str] = field(default_factory=list)

    def send(self, request: dict[str, Any], *, key: str, timeout: float) -> dict[str, Any]:
        self.heard.append((key, request))
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, BaseException):
            raise answer
        assert isinstance(answer, dict)
        return answer

    def find(self, key: str, request: dict[str, Any]) -> dict[str, Any] | None:
        self.asked.append(key)
        return self.found

    @property
    def keys(self) -> list[str]:
        return [key for key, _ in self.heard]

    def sells(self, **declared: Any) -> Effect:
        told = {"reversible": HARMLESS, "timeout": timedelta(seconds=10), **declared}
        return Effect("shop.sell", send=self.send, **told)

    def with_probe(self, *, settles: timedelta = timedelta(0), **declared: Any) -> Effect:
        return self.sells(probe=Probe(find=self.find, settles=settles), **declared)


Body = Callable[[Any], None]


@contextmanager
def one_step(body: Body, **declared: Any) -> Iterator[str]:
    """A workflow `errand` of one step with this body, the only one that is known meanwhile."""

    def do(self: Any, run: Any) -> None:
        body(run)

    given = {"retry": AT_ONCE, "reads": ["n"], **declared}
    members = {
        "name": "errand",
        "version": 1,
        "Input": type("Input", (), {"__annotations__": {"n": int}, "n": 1}),
        "do": step(**given)(do),
        "__doc__": "One step.",
    }
    with registry.isolated():
        type("Errand", (Workflow,), members)
        yield "errand"


def sale(run: Any, effect: Effect, *, of: str = "book", **more: Any) -> Any:
    return run.call(effect, resource=of, request={"what": of, **more})
