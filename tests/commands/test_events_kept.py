"""`events list`, `show` and `keys`: what came, what became of it, and who may bring it."""

import pytest
from django.contrib.auth.models import User

from runs.models import Event, EventKey
from tests.commands.saying import manage
from tests.support import runs

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("_a_tenant")]


@pytest.fixture
def _a_tenant(transactional_db: None) -> None:
    runs.the_tenant()


def test_what_came_is_listed_by_what_became_of_it() -> None:
    run_id = runs.a_run("await")
    runs.drain()
    runs.deliver("order.paid", "7", {"sum": 1})
    runs.deliver("order.paid", "8", {"sum": 2})

    used = manage("events", "list", "--which", "used", "--json").json["events"]
    kept = manage("events", "list", "--which", "kept")

    assert [(each["correlation_id"], each["run"]) for each in used] == [("7", str(run_id))]
    assert "No run has waited for it so far" in kept.out
    assert manage("events", "list", "--name", "other").out.strip() == "No such event has come."


def test_one_is_shown_with_its_payload_only_to_whoever_may_see_payloads() -> None:
    runs.deliver("order.paid", "7", {"sum": 1})
    User.objects.create_user("bob")
    number = str(Event.objects.get().pk)

    assert manage("events", "show", number, "--json").json["payload"] == {"sum": 1}
    assert "payload" not in manage("events", "show", number, "--json", "--as", "bob").json
    assert manage("events", "show", str(int(number) + 1)).code == 1


def test_an_event_whose_message_id_came_with_other_content_ends_with_one() -> None:
    words = ("events", "deliver", "order.paid", "--correlation-id", "7", "--message-id", "m")
    manage(*words, "--payload", '{"sum": 1}')

    said = manage(*words, "--payload", '{"sum": 2}')

    assert (said.code, "with other content" in said.err) == (1, True)


def test_a_key_is_made_shown_once_listed_and_revoked() -> None:
    made = manage("events", "keys", "add", "shop", "--event", "order.paid", "--json").json

    assert made["key"].startswith(f"mpe_{made['handle']}_")
    listed = manage("events", "keys", "list")
    assert made["handle"] in listed.out
    assert made["key"] not in listed.out
    assert manage("events", "keys", "revoke", made["handle"]).code == 0
    assert manage("events", "keys", "revoke", made["handle"]).code == 1
    assert EventKey.objects.get().revoked_by.startswith("local operator")


def test_a_key_for_what_can_be_no_event_is_refused() -> None:
    assert manage("events", "keys", "add", "shop", "--event", "a b").code == 2
    assert manage("events", "keys", "add").code == 2


def test_a_user_without_the_permission_makes_no_key() -> None:
    User.objects.create_user("bob")

    assert manage("events", "keys", "add", "shop", "--as", "bob").code == 1
    assert not EventKey.objects.exists()
