"""A step that hides an unknown result does not end before somebody knows (I6)."""

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest

from runs.definition import Effect, Retry, Waived, Workflow, gates, registry, step
from runs.models import Call
from runs.queries.verify import violations
from tests.support import runs

pytestmark = pytest.mark.django_db(transaction=True)


class Receiver:
    """Does what it is told, and loses the first answer."""

    def __init__(self) -> None:
        self.done: list[str] = []

    def send(self, request: dict[str, Any], *, key: str, timeout: float) -> dict[str, Any]:
        self.done.append(key)
        raise ConnectionError("no answer")

    def find(self, key: str, request: dict[str, Any]) -> dict[str, Any] | None:
        return {"id": key} if key in self.done else None


@pytest.fixture
def receiver(monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    there = Receiver()
    pay = Effect("shop.pay", send=there.send, probe=there.find)
    monkeypatch.setitem(gates._gates, "decision", gates.Quiet())
    with registry.isolated():

        class Careless(Workflow):
            name, version = "careless", 1

            @step(effects=[pay], approval=Waived("It is a test."), retry=Retry(attempts=2))
            def purchase(self, run: Any) -> None:
                with contextlib.suppress(Exception):
                    run.call(pay, resource="1", request={})

        yield there


def test_a_hidden_doubt_is_settled_by_the_next_attempt(receiver: Receiver) -> None:
    run_id = runs.a_run("careless")
    runs.drain()
    assert runs.state_of(run_id) == "waiting"
    assert "was sent and not answered" in runs.the_step(run_id, "purchase").error

    runs.let_it_be_due(run_id)
    runs.drain()

    call = Call.objects.get(run=run_id)
    assert runs.state_of(run_id) == "succeeded"
    assert (call.state, call.source, len(receiver.done)) == ("confirmed", "probe", 1)
    assert violations([run_id]) == []
