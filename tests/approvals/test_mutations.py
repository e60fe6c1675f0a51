"""What was approved is what leaves: every other request is refused at the call (I7), byte for byte."""

import time
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from runs.definition import Approval, Effect, Retry, Workflow, registry, step
from runs.engine.worker import Worker
from runs.models import Call, PlannedCall
from runs.rules import canonical, keys
from tests.approvals.builders import a_person, acting, asked_by, decide
from tests.approvals.receiving import Receiver, a_receiver
from tests.support import runs

pytestmark = pytest.mark.django_db(transaction=True)

RESOURCE = "invoice-1"
ONCE = Retry(attempts=1)
# Alike to the eye, and other bytes: composed and not, Latin and Cyrillic, with and without a joiner.
TWINS = {"é": "e\u0301", "a": "\u0430", "o": "\u03bf", "n": "n\u200d", "K": "\u212a"}
Request = dict[str, Any]


@dataclass(slots=True)
class Told:
    """What the workflow under test plans, and what it then asks for."""

    planned: Request = field(default_factory=dict)
    resource: str = RESOURCE
    asks: Request = field(default_factory=dict)


@pytest.fixture
def told() -> Told:
    return Told()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with a_receiver() as built:
        yield built


@pytest.fixture(autouse=True)
def _workflows(receiver: Receiver, told: Told) -> Iterator[None]:
    with registry.isolated():
        pay = Effect("shop.pay", send=receiver.send, timeout=timedelta(seconds=60))
        for made in (_applied(pay, told), _called(pay, told), _alone(pay, told)):
            registry.register(made)
        yield


def _applied(pay: Effect, told: Told) -> type[Workflow]:
    class Applied(Workflow):
        name, version = "applied", 1

        @step(writes=["payments"])
        def propose(self, run: Any) -> None:
            run.plan("payments", pay, resource=RESOURCE, request=told.planned)

        @step(
            reads=["payments"],
            effects=[pay],
            approval=Approval(of="payments"),
            retry=ONCE,
        )
        def settle(self, run: Any) -> None:
            run.apply("payments")

    return Applied


def _called(pay: Effect, told: Told) -> type[Workflow]:
    class Called(Workflow):
        name, version = "called", 1

        @step(writes=["payments"])
        def propose(self, run: Any) -> None:
            run.plan("payments", pay, resource=RESOURCE, request=told.planned)

        @step(reads=["payments"], effects=[pay], approval=Approval(of="payments"))
        def settle(self, run: Any) -> None:
            run.call(pay, resource=told.resource, request=told.asks)

    return Called


def _alone(pay: Effect, told: Told) -> type[Workflow]:
    class Alone(Workflow):
        name, version = "alone", 1

        @step(effects=[pay], retry=ONCE)
        def settle(self, run: Any) -> None:
            run.call(pay, resource=told.resource, request=told.asks)

    return Alone


texts = st.text(st.sampled_from("éaonK 7-"), min_size=1, max_size=8)
requests = st.fixed_dictionaries(
    {
        "to": texts,
        "amount": st.integers(-(10**6), 10**6),
        "lines": st.lists(st.fixed_dictionaries({"text": texts, "n": st.integers(0, 9)})),
    }
)


def _another_number(request: Request, draw: Callable[..., Any]) -> Request:
    return request | {"amount": request["amount"] + draw(st.sampled_from([1, -1, 0.5, 10**9]))}


def _another_type(request: Request, draw: Callable[..., Any]) -> Request:
    return request | {"amount": draw(st.sampled_from([str(request["amount"]), None, True]))}


def _an_added_key(request: Request, draw: Callable[..., Any]) -> Request:
    name = draw(st.sampled_from(["to ", "To", "cc", "", "t\u043e", "amount\u200b"]))
    return request | {name: draw(texts)}


def _a_missing_key(request: Request, draw: Callable[..., Any]) -> Request:
    gone = draw(st.sampled_from(sorted(request)))
    return {name: value for name, value in request.items() if name != gone}


def _a_twin(request: Request, draw: Callable[..., Any]) -> Request:
    to = request["to"] + draw(st.sampled_from(sorted(TWINS)))
    return request | {"to": "".join(TWINS.get(each, each) for each in to)}


def _a_deeper_one(request: Request, draw: Callable[..., Any]) -> Request:
    return request | {"lines": [*request["lines"], {"text": draw(texts), "n": 0}]}


WAYS = (_another_number, _another_type, _an_added_key, _a_missing_key, _a_twin, _a_deeper_one)


@st.composite
def pairs(draw: Any) -> tuple[Request, Request]:
    """A request that was approved, and another one that is not."""
    approved = draw(requests)
    other = draw(st.sampled_from(WAYS))(approved, draw)
    if canonical.dumps(other) == canonical.dumps(approved):
        other = approved | {"cc": "x"}
    return approved, other


by_hypothesis = settings(
    max_examples=8,
    deadline=None,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.fixture
def worker() -> Iterator[Worker]:
    """One for all examples of a test: to enlist takes longer than the work."""
    with runs.a_worker() as built:
        yield built


def work(worker: Worker) -> None:
    assert worker.drain_placed(until=time.monotonic() + runs.LONG_ENOUGH, stop=lambda: False)


def approve(run_id: UUID) -> None:
    mara = User.objects.filter(username="mara").first() or a_person()
    decide(acting(mara), asked_by(run_id))


def bytes_of(request: Request) -> bytes:
    return canonical.dumps(request).encode()


def a_run_of(workflow: str, receiver: Receiver, worker: Worker, *, busy: int = 0) -> UUID:
    """Approved as it was shown; nothing has arrived so far."""
    receiver.arrived.clear()
    receiver.busy = busy
    run_id = runs.a_run(workflow)
    work(worker)
    approve(run_id)
    return run_id


def test_what_was_approved_arrives_with_exactly_the_bytes_whose_digest_was_shown(
    receiver: Receiver, worker: Worker, told: Told
) -> None:
    told.planned = told.asks = {"to": "e\u0301 é K \u212a", "amount": 4200, "lines": [{"n": 1}]}

    for workflow in ("applied", "called", "alone"):
        run_id = a_run_of(workflow, receiver, worker)
        work(worker)

        call = Call.objects.get(run_id=run_id)
        assert [each.body for each in receiver.arrived] == [bytes_of(told.asks)]
        assert canonical.digest(receiver.arrived[0].body.decode()) == call.request_digest
        assert (receiver.arrived[0].key, call.state) == (call.key, "confirmed")


@by_hypothesis
@given(pairs())
def test_a_body_that_asks_for_another_request_than_the_list_holds_is_asked_about(
    receiver: Receiver, worker: Worker, told: Told, pair: tuple[Request, Request]
) -> None:
    told.planned, told.asks = pair
    told.resource = RESOURCE
    run_id = a_run_of("called", receiver, worker)

    work(worker)

    asked = runs.asked_of(runs.open_wait(run_id))
    assert (receiver.arrived, asked["kind"]) == ([], "call")
    assert canonical.dumps(asked["call"]["request"]).encode() == bytes_of(told.asks)


@by_hypothesis
@given(requests, st.sampled_from(["invoice-2", "invoice\u20101", "\u0456nvoice-1", "invoice-1 "]))
def test_another_resource_than_the_list_holds_is_asked_about(
    receiver: Receiver, worker: Worker, told: Told, request: Request, resource: str
) -> None:
    told.planned = told.asks = request
    told.resource = resource
    run_id = a_run_of("called", receiver, worker)

    work(worker)

    assert receiver.arrived == []
    assert runs.asked_of(runs.open_wait(run_id))["call"]["resource"] == resource


@by_hypothesis
@given(pairs())
def test_a_body_that_is_entered_again_and_asks_otherwise_is_asked_about_anew(
    receiver: Receiver, worker: Worker, told: Told, pair: tuple[Request, Request]
) -> None:
    told.asks, told.resource = pair[0], RESOURCE
    run_id = a_run_of("alone", receiver, worker)
    told.asks = pair[1]

    work(worker)

    asked = runs.asked_of(runs.open_wait(run_id))
    assert (receiver.arrived, asked["kind"]) == ([], "call")
    assert asked["evidence"]["changed_from"] == pair[0]


@by_hypothesis
@given(pairs(), st.sampled_from(["request", "request and digest", "resource"]))
def test_a_stored_list_that_was_altered_after_its_approval_sends_nothing(
    receiver: Receiver, worker: Worker, told: Told, pair: tuple[Request, Request], what: str
) -> None:
    told.planned, altered = pair
    run_id = a_run_of("applied", receiver, worker)
    text = canonical.dumps(altered)
    changes: dict[str, Any] = {
        "request": {"request": text},
        "request and digest": {"request": text, "request_digest": canonical.digest(text)},
        "resource": {"resource": "invoice-2"},
    }[what]
    PlannedCall.objects.filter(run_id=run_id).update(**changes)

    work(worker)

    assert receiver.arrived == []
    assert not Call.objects.filter(run_id=run_id).exists()
    assert runs.asked_of(runs.open_wait(run_id))["kind"] == "give up"


@pytest.fixture
def unguarded() -> Iterator[None]:
    """The database itself would refuse what these tests do to a stored call."""
    runs.without_guards()
    yield
    runs.with_guards()


@pytest.mark.usefixtures("unguarded")
@by_hypothesis
@given(
    pairs(),
    st.sampled_from(["applied", "alone"]),
    st.sampled_from(["request", "request and digest", "with its own key"]),
)
def test_a_stored_call_that_was_altered_before_it_left_is_refused_where_it_leaves(
    receiver: Receiver,
    worker: Worker,
    told: Told,
    pair: tuple[Request, Request],
    workflow: str,
    what: str,
) -> None:
    told.planned = told.asks = pair[0]
    told.resource = RESOURCE
    run_id = a_run_of(workflow, receiver, worker, busy=1)
    work(worker)
    mara = acting(User.objects.get(username="mara"))
    decide(mara, asked_by(run_id), "again")
    altered = _altered(Call.objects.get(run_id=run_id), canonical.dumps(pair[1]), what)
    assert Call.objects.filter(run_id=run_id, unsent=True).update(**altered) == 1

    work(worker)

    assert receiver.arrived == []
    assert runs.asked_of(runs.open_wait(run_id))["kind"] in ("give up", "conflict", "call")


def _altered(call: Call, text: str, what: str) -> dict[str, str]:
    digest = canonical.digest(text)
    key = keys.idempotency_key(
        run_id=call.run_id,
        scope=call.scope,
        effect=call.effect,
        resource=call.resource,
        request_text=text,
    )
    return {
        "request": {"request": text},
        "request and digest": {"request": text, "request_digest": digest},
        "with its own key": {"request": text, "request_digest": digest, "key": key},
    }[what]


def test_the_twins_of_these_tests_are_alike_and_other_bytes() -> None:
    for one, other in TWINS.items():
        assert one.encode() != other.encode()
    assert unicodedata.normalize("NFC", TWINS["é"]) == "é"
