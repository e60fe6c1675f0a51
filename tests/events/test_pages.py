"""The pages of events: the list, one with its payload, delivering by hand, and keys."""

from typing import Any

import pytest
from django.test import Client

from runs.models import Event, EventKey
from tests.dashboard.builders import a_person
from tests.events.waiting import ORDER, a_waiting_run, waits_for_payment
from tests.support import runs

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("_no_desk")]


@pytest.fixture(autouse=True)
def _nobody_is_rung(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runs.conf.ring", lambda assignment_id: None)


def signed_in(*permissions: str) -> Client:
    runs.the_tenant()
    client = Client()
    client.force_login(a_person("omar", *permissions))
    return client


def form_of(client: Client, **given: str) -> dict[str, Any]:
    form = client.get("/events/new/", given).context["form"]
    return {
        name: form[name].value() for name in ("name", "correlation_id", "payload", "message_id")
    }


def test_a_waiting_run_offers_to_deliver_and_pressing_twice_is_one_event() -> None:
    with waits_for_payment():
        run_id = a_waiting_run()
        client = signed_in("operate")
        page = client.get(f"/runs/{run_id}/").content.decode()
        assert "/events/new/?name=order.paid&amp;correlation_id=order-7" in page
        filled = form_of(client, name="order.paid", correlation_id=ORDER)
        filled |= {"payload": '{"sum": 3}', "tenant": str(runs.the_tenant().pk)}
        assert [client.post("/events/new/", filled).status_code for _ in range(2)] == [302, 302]
        runs.drain()

    assert runs.facts_of(run_id)["paid"] == {"sum": 3}
    assert (Event.objects.get().source, Event.objects.get().repeats) == ("omar", 1)


@pytest.mark.parametrize("payload", ["{", "[]", '{"n": 9007199254740993}'])
def test_what_is_no_payload_is_said_beside_the_field(payload: str) -> None:
    client = signed_in("operate")
    filled = form_of(client, name="order.paid", correlation_id="1")
    filled |= {"payload": payload, "tenant": str(runs.the_tenant().pk)}

    assert client.post("/events/new/", filled).status_code == 422
    assert not Event.objects.exists()


def test_the_list_says_what_became_of_each_and_can_be_narrowed() -> None:
    client = signed_in()
    assert "No such event has come" in client.get("/events/").content.decode()
    for number in range(60):
        runs.deliver("order.paid", f"order-{number}", {})
    runs.deliver("order.sent", "order-1", {})

    page = client.get("/events/").content.decode()
    assert page.count("data-row") == 50
    assert "Older" in page
    assert client.get("/events/?name=order.sent").content.decode().count("data-row") == 1
    assert client.get("/events/?which=used").content.decode().count("data-row") == 0


def test_a_payload_is_shown_to_whoever_may_see_payloads() -> None:
    runs.deliver("order.paid", ORDER, {"card": "4111"})
    number = Event.objects.get().pk
    address = f"/events/{number}/"

    assert "4111" not in signed_in().get(address).content.decode()
    seeing = Client()
    seeing.force_login(a_person("ann", "view_payloads"))
    assert "4111" in seeing.get(address).content.decode()
    assert seeing.get(f"/events/{number + 1}/").status_code == 404


def test_a_key_is_shown_in_the_answer_that_made_it_and_nowhere_else() -> None:
    client = signed_in("operate")

    answer = client.post(
        "/events/keys/", {"name": "shop", "events": "a.b c", "tenant": str(runs.the_tenant().pk)}
    )

    key = EventKey.objects.get()
    assert answer.status_code == 201
    assert f"mpe_{key.handle}_" in answer.content.decode()
    assert f"mpe_{key.handle}_" not in client.get("/events/keys/").content.decode()
    client.post(f"/events/keys/{key.handle}/revocations/")
    assert EventKey.objects.get().revoked_by == "omar"
    assert client.post(f"/events/keys/{key.handle}/revocations/").status_code == 404


@pytest.mark.parametrize("address", ["/events/new/", "/events/keys/"])
def test_who_may_not_operate_delivers_nothing_and_gives_no_keys(address: str) -> None:
    client = signed_in()

    assert client.get(address).status_code == 403
    assert client.post(address, {}).status_code == 403
