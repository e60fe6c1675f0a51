"""The command `channels`, by which an installation without a page tells people, too."""

from io import StringIO
from typing import Any

import pytest

from runs.examples.webhook_receiver import WebhookReceiver
from runs.models import Channel, Tenant
from tests.commands.saying import manage
from tests.dashboard.builders import a_person
from tests.telling.builders import a_row

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("allowed")]


def added(*more: str, name: str = "ops", kind: str = "webhook") -> Any:
    return manage("channels", "add", name, "--kind", kind, "--tells-of", "critical", *more)


def test_a_channel_is_added_tested_rotated_and_removed(receiver: WebhookReceiver) -> None:
    made = added("--to", receiver.url, "--json").json
    receiver.secrets = [made["secret"]]

    tested = manage("channels", "test", "ops", "--json")
    rotated = manage("channels", "rotate", "ops", "--json").json
    receiver.secrets = [rotated["secret"]]
    again = manage("channels", "test", str(made["id"]))
    shown = manage("channels", "show", "ops", "--json").json
    removed = manage("channels", "remove", "ops", "--because", "done")

    assert (tested.code, tested.json["answer"]) == (0, "200 taken")
    assert again.code == 0
    assert [each["state"] for each in shown["deliveries"]] == ["delivered", "delivered"]
    assert "secret" not in shown
    assert shown["old_secret_until"] is not None
    assert removed.code == 0
    assert manage("channels", "list", "--json").json == {"channels": []}


def test_a_test_that_does_not_arrive_says_the_answer_and_ends_with_1(
    receiver: WebhookReceiver,
) -> None:
    added("--to", receiver.url)
    receiver.secrets = ["whsec_AAAA"]

    tested = manage("channels", "test", "ops")

    assert tested.code == 1
    assert "401 None of its signatures is made with this secret." in tested.out


def test_an_address_may_come_by_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", StringIO("ops@example.org night@example.org\n"))

    made = added("--to", "-", kind="mail")

    assert made.code == 0
    assert Channel.objects.get().target == "ops@example.org, night@example.org"


def test_it_is_paused_and_resumed() -> None:
    added("--to", "ops@example.org", kind="mail")

    paused = manage("channels", "pause", "ops", "--because", "repairs", "--json").json
    tested = manage("channels", "test", "ops")
    resumed = manage("channels", "resume", "ops", "--json").json

    assert paused["state"] == "paused"
    assert tested.code == 1
    assert "resume it first" in tested.err
    assert resumed["state"] == "new"


def test_of_a_name_that_several_tenants_use_the_tenant_is_asked_for() -> None:
    other = Tenant.objects.create(slug="other", name="Other")
    mine, theirs = a_row("ops"), a_row("ops", tenant=other)

    asked = manage("channels", "pause", "ops", "--because", "repairs")
    shown = manage("channels", "show", "ops", "--tenant", "other", "--json").json
    paused = manage("channels", "pause", "ops", "--because", "x", "--tenant", "default", "--json")

    assert asked.code == 2
    assert asked.err == "Several tenants have 'ops' (default, other): say --tenant."
    assert (shown["id"], shown["state"]) == (theirs.pk, "new")
    assert paused.json["id"] == mine.pk
    assert manage("channels", "show", str(theirs.pk), "--json").json["tenant"] == "other"


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("show", "nobody"), 1, "There is no channel 'nobody'"),
        (("add", "x", "--kind", "mail", "--to", "?", "--tells-of", "info"), 1, "address:"),
        (("list", "--as", "omar", "--json"), 0, ""),
        (("pause", "ops", "--because", "x", "--as", "omar"), 1, "lacks the permission"),
    ],
)
def test_what_cannot_be_says_why(words: tuple[str, ...], code: int, said: str) -> None:
    a_person("omar", "operate")
    added("--to", "ops@example.org", kind="mail")

    answer = manage("channels", *words)

    assert answer.code == code, answer.err
    assert said in answer.err
