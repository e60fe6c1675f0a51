"""`POST /events/<name>`: with a key of its own, in bounds, each refusal in a sentence."""

import json
from typing import Any

import pytest
from django.test import Client

from runs.ledger import event_keys
from runs.models import AuditEvent, Event, EventKey
from runs.rules import event_keys as rules
from tests.events.waiting import ORDER, a_waiting_run, waits_for_payment
from tests.support import runs

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("_no_desk")]

NEW = {"correlation_id": ORDER, "message_id": "m-1", "payload": {"sum": 1}}


def a_key(*events: str, name: str = "shop") -> event_keys.NewKey:
    tenant = runs.the_tenant()
    return event_keys.add(runs.the_operator(), tenant_id=tenant.pk, name=name, events=events)


def post(token: str, body: Any = NEW, *, name: str = "order.paid", **headers: str) -> Any:
    text = body if isinstance(body, str | bytes) else json.dumps(body)
    client = Client(enforce_csrf_checks=True)
    return client.post(
        f"/events/{name}",
        text,
        content_type="application/json",
        headers={"authorization": f"Bearer {token}", **headers},
    )


def test_it_wakes_the_run_that_waits_and_says_so_once() -> None:
    token = a_key().token

    with waits_for_payment():
        run_id = a_waiting_run()
        first, second = post(token), post(token)
        runs.drain()

    assert (first.status_code, first.json()["outcome"]) == (202, "used")
    assert (second.status_code, second.json()["outcome"]) == (200, "duplicate")
    assert runs.facts_of(run_id)["paid"] == {"sum": 1}
    assert Event.objects.get().source.startswith("key shop ")


def test_the_message_id_may_be_the_header_idempotency_key() -> None:
    answer = post(
        a_key().token, {"correlation_id": ORDER, "payload": {}}, **{"idempotency-key": "h-1"}
    )

    assert answer.status_code == 202
    assert Event.objects.get().message_id == "h-1"


def test_the_same_message_id_with_another_payload_is_a_conflict() -> None:
    token = a_key().token
    post(token)

    answer = post(token, {**NEW, "payload": {"sum": 2}})

    assert (answer.status_code, answer.json()["outcome"]) == (409, "conflict")
    assert Event.objects.get().payload == '{"sum":1}'


@pytest.mark.parametrize(
    ("body", "status", "says"),
    [
        ("{", 422, "no JSON"),
        ("[]", 422, "a JSON object"),
        ("[" * 100_000, 422, "no JSON"),
        ({"message_id": "m"}, 422, "correlation_id has to be"),
        ({"correlation_id": "c"}, 422, "message_id (or the header"),
        ({**NEW, "message_id": "m" * 301}, 422, "1 to 300"),
        ({**NEW, "message_id": 7}, 422, "printable text"),
        ({**NEW, "correlation_id": "a\nb"}, 422, "printable text"),
        ({**NEW, "payload": [1]}, 422, "payload has to be"),
        ({**NEW, "payload": {"n": 2**60}}, 422, "payload: $.n"),
        (b"\xff", 422, "no JSON"),
        ("x" * (256 * 1024 + 1), 413, "at most 262,144 bytes"),
    ],
)
def test_what_cannot_be_taken_in_is_refused_in_a_sentence(
    body: Any, status: int, says: str
) -> None:
    answer = post(a_key().token, body)

    assert (answer.status_code, says in answer.json()["said"]) == (status, True), answer.json()
    assert not Event.objects.exists()


def test_without_a_living_key_nothing_is_taken_in() -> None:
    made = a_key()
    wrong = made.token[:-1] + ("A" if made.token[-1] != "A" else "B")
    for token in ("", "mpe_x", wrong, made.token.replace(made.handle, "a" * 12)):
        answer = post(token)
        assert (answer.status_code, answer.headers["WWW-Authenticate"]) == (401, "Bearer")

    event_keys.revoke(runs.the_operator(), made.handle)
    assert post(made.token).status_code == 401
    assert not Event.objects.exists()


def test_a_key_delivers_only_the_events_it_names() -> None:
    token = a_key("order.paid").token

    assert post(token).status_code == 202
    assert post(token, name="order.cancelled").status_code == 404
    assert post(token, name="a%20b").status_code == 404


def test_only_posting_delivers() -> None:
    answer = Client().get(
        "/events/order.paid", headers={"authorization": f"Bearer {a_key().token}"}
    )

    assert (answer.status_code, answer.headers["Allow"]) == (405, "POST")


def test_a_key_is_changed_without_a_gap() -> None:
    old, new = a_key(), a_key()

    assert [
        post(token, {**NEW, "message_id": token[-5:]}).status_code
        for token in (old.token, new.token)
    ] == [202, 202]
    event_keys.revoke(runs.the_operator(), old.handle)
    assert [post(token).status_code for token in (old.token, new.token)] == [401, 202]


def test_the_secret_of_a_key_is_stored_nowhere() -> None:
    made = a_key()
    secret = made.token.rpartition("_")[2] if "_" not in made.token[17:] else made.token[17:]

    row = EventKey.objects.get()
    assert rules.fits(made.token, row.secret_digest)
    kept = [*map(str, EventKey.objects.values_list().get()), AuditEvent.objects.get().body]
    assert not any(secret in text for text in kept)


def test_a_key_that_is_used_too_often_has_to_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "PER_WINDOW", 3)
    token = a_key().token

    answers = [post(token, {**NEW, "message_id": f"m-{number}"}).status_code for number in range(5)]

    assert answers == [202, 202, 202, 429, 429]
