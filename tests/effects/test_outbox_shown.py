"""The outbox as people see it: by page and by command, with what happens next, and a retry where one may be."""

from datetime import timedelta
from uuid import UUID, uuid4

import pytest
from django.contrib.auth.models import User
from django.test import Client

from runs.definition import NotSent
from runs.engine import relay_courier
from runs.models import AuditEvent, Message
from runs.queries.clock import db_now
from runs.queries.verify import violations
from tests.commands.saying import manage
from tests.dashboard.builders import a_person
from tests.effects.shop import FOR_EVER, Shop, one_step, sale
from tests.support import runs

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("_no_desk")]


@pytest.fixture(autouse=True)
def _nobody_is_rung(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runs.conf.ring", lambda assignment_id: None)


def signed_in(*permissions: str) -> Client:
    client = Client()
    client.force_login(a_person("omar", *permissions))
    return client


def a_stuck_call(shop: Shop) -> UUID:
    run_id = runs.a_run("errand")
    runs.drain()
    for _ in range(5):
        Message.objects.update(due_at=db_now())
        relay_courier.send_all_due()
    return run_id


def test_what_is_stuck_needs_you_says_why_and_can_be_retried_now() -> None:
    shop = Shop(answers=[NotSent("no line")])
    effect = shop.sells(relay=True, contract=FOR_EVER)

    with one_step(lambda run: sale(run, effect), effects=[effect]):
        run_id = a_stuck_call(shop)
        message = Message.objects.get()
        client = signed_in("operate")
        home = client.get("/").content.decode()
        page = client.get("/outbox/").content.decode()
        asked = client.get("/outbox/", {"ask": str(message.pk)}).content.decode()
        shop.answers = [{"id": "sale-1"}]
        client.post(f"/outbox/{message.pk}/retries/")
        relay_courier.send_all_due()
        assert runs.work_through(run_id) == "succeeded"

    assert "Stuck in the outbox" in home
    for said in ("shop.sell for book", "no line", "under the same key", "Retry now"):
        assert said in page
    assert "Keep waiting" not in page
    assert "Retry <em>shop.sell for book</em> now?" in asked
    assert "autofocus>Keep waiting</a>" in asked
    assert AuditEvent.objects.filter(run_id=run_id, kind="outbox.hastened").count() == 1
    assert violations([run_id]) == []


def test_the_commands_say_the_same() -> None:
    shop = Shop(answers=[NotSent("no line")])
    effect = shop.sells(relay=True)

    with one_step(lambda run: sale(run, effect), effects=[effect]):
        a_stuck_call(shop)
        (listed,) = manage("outbox", "list", "--json").json["messages"]
        shown = manage("outbox", "show", listed["id"])
        retried = manage("outbox", "retry", listed["id"], "--json").json
        again = manage("outbox", "retry", listed["id"], "--json").json

    assert (listed["what"], listed["attempts"], listed["state"]) == (
        "shop.sell for book",
        5,
        "pending",
    )
    assert "A courier tries it when it is due, under the same key." in shown.out
    assert (retried["due_now"], again["left"]) == ([listed["id"]], [listed["id"]])
    assert manage("outbox", "list", "--state", "dead").out.strip().startswith("The outbox holds")
    assert manage("outbox", "show", str(uuid4())).code == 1


def test_what_is_in_doubt_is_not_sent_for_being_hurried() -> None:
    """I6"""
    shop = Shop(answers=[TimeoutError("no answer")])
    effect = shop.sells(relay=True)

    with one_step(lambda run: sale(run, effect), effects=[effect]):
        run_id = runs.a_run("errand")
        runs.drain()
        relay_courier.send_all_due()
        message = Message.objects.get()
        page = signed_in("operate").get("/outbox/").content.decode()
        assert manage("outbox", "retry", str(message.pk), "--json").json["due_now"] == []
        relay_courier.send_all_due()

    assert len(shop.heard) == 1
    assert "Its run looks it up, or a person is asked" in page
    assert "Retry now" not in page
    assert violations([run_id]) == []


def test_the_run_waits_in_words_and_one_behind_another_waits_its_turn() -> None:
    shop = Shop(answers=[NotSent("no line")])
    effect = shop.sells(relay=True)

    with one_step(lambda run: sale(run, effect), effects=[effect]):
        first = runs.a_run("errand")
        runs.a_run("errand")
        runs.drain()
        Message.objects.update(due_at=db_now() + timedelta(hours=1))
        client = signed_in()
        page = client.get("/outbox/").content.decode()
        run = client.get(f"/runs/{first}/").content.decode()

    assert "It leaves when what was put before it for the same resource is known." in page
    assert "Retry now" not in page
    assert "waits until its calls have left the outbox" in run


def test_who_may_not_operate_retries_nothing_and_other_tenants_see_nothing() -> None:
    shop = Shop(answers=[NotSent("no line")])
    effect = shop.sells(relay=True)

    with one_step(lambda run: sale(run, effect), effects=[effect]):
        a_stuck_call(shop)
        message = Message.objects.get()
        assert signed_in().post(f"/outbox/{message.pk}/retries/").status_code == 403
        other = User.objects.create_user("elsewhere")
        tenant = runs.the_tenant("other")
        tenant.membership_set.create(user=other)
        client = Client()
        client.force_login(other)
        assert "Nothing has to leave" in client.get("/outbox/").content.decode()


def test_an_empty_outbox_says_what_it_is_for() -> None:
    runs.the_tenant()
    assert "relay=True" in signed_in().get("/outbox/").content.decode()
