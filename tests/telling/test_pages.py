"""The pages of channels: looked at by anybody, changed by administrators, and no secret ever shown again."""

import re
from base64 import b64encode
from typing import Any

import pytest
from django.test import Client

from runs.examples.webhook_receiver import WebhookReceiver
from runs.models import AuditEvent, Channel, Message, Tenant
from runs.queries.clock import db_now
from runs.queries.verify import violations
from runs.rules.signatures import PREFIX
from tests.dashboard.builders import a_person
from tests.telling.builders import a_channel, a_row, deliver_all, news
from tests.telling.conftest import Serve, say

pytestmark = pytest.mark.django_db(transaction=True)

CANARY = "canary-0f3b9a77c1"
WEBHOOK = f"https://hooks.example.org/{CANARY}/in?token={CANARY}"


def signed_in(*permissions: str, name: str = "ada") -> Client:
    client = Client()
    client.force_login(a_person(name, *permissions))
    return client


@pytest.fixture
def client() -> Client:
    return signed_in("administer")


def posted(client: Client, path: str, **fields: Any) -> Any:
    return client.post(path, fields)


def made(client: Client, **more: Any) -> Any:
    fields: dict[str, Any] = {
        "name": "ops",
        "tenant": "default",
        "kind": "webhook",
        "address": WEBHOOK,
        "severities": ["critical"],
        "workflows": "payments refunds",
        **more,
    }
    return client.post("/channels/new/", fields)


def test_a_webhook_is_made_and_its_secret_shown_once(client: Client) -> None:
    answer = made(client)

    page = answer.content.decode()
    assert answer.status_code == 201
    assert "no-store" in answer["Cache-Control"]
    secret = re.findall(rf"{PREFIX}[A-Za-z0-9+/=]+", page)[0]
    channel = Channel.objects.get()
    assert channel.target == "https://hooks.example.org/…"
    for path in ("/channels/", f"/channels/{channel.pk}/", f"/channels/{channel.pk}/changes/"):
        shown = client.get(path).content.decode()
        assert "ops" in shown
        assert CANARY not in shown
        assert secret not in shown


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("name", "", "required"),
        ("name", "a\x00b", "Null characters are not allowed"),
        ("kind", "pigeon", "Select a valid choice"),
        ("severities", [], "required"),
        ("address", "ftp://example.org", "starts with https://"),
        ("address", "https://user:secret@example.org", "Leave user and password out"),
        ("address", "https://exa mple.org/", "no address"),
        ("address", "https://example.org:99999/", "no address"),
    ],
)
def test_what_is_no_channel_is_refused_at_its_field(
    client: Client, field: str, value: Any, said: str
) -> None:
    answer = made(client, **{field: value})

    assert answer.status_code == 422
    assert said in answer.content.decode()
    assert not Channel.objects.exists()


@pytest.mark.parametrize(
    ("kind", "address", "said"),
    [
        ("mail", "nobody", "valid email"),
        ("mail", "", "required"),
        ("apprise", "dbus://", "reaches this machine"),
        ("apprise", "slack", "Say an address of apprise"),
        ("apprise", "json://example.org", "not allowed by CHANNEL_SCHEMES"),
        ("apprise", "slack://nonsense", "cannot read this address"),
    ],
)
def test_an_address_has_to_fit_its_kind(client: Client, kind: str, address: str, said: str) -> None:
    answer = made(client, kind=kind, address=address)

    assert answer.status_code == 422
    assert said in answer.content.decode()


def test_two_channels_do_not_share_a_name(client: Client) -> None:
    made(client)

    answer = made(client)

    assert answer.status_code == 422
    assert "There is a channel" in answer.content.decode()


@pytest.mark.usefixtures("allowed")
def test_a_test_shows_the_exact_answer(client: Client, receiver: WebhookReceiver) -> None:
    channel = a_channel(to=receiver.url).channel
    receiver.secrets = ["whsec_AAAA"]

    posted(client, f"/channels/{channel.pk}/tests/")
    waiting = client.get(f"/channels/{channel.pk}/").content.decode()
    deliver_all()
    page = client.get(f"/channels/{channel.pk}/").content.decode()

    assert "No courier has taken it yet" in waiting
    assert "401 None of its signatures is made with this secret." in page


def test_it_is_changed_paused_resumed_rotated_and_removed(client: Client) -> None:
    made(client)
    channel = Channel.objects.get()
    at = f"/channels/{channel.pk}"
    sealed = channel.sealed

    changed = posted(
        client, f"{at}/changes/", name="night", severities=["info"], address="", revision=1
    )
    posted(client, f"{at}/pauses/", because="repairs", expected_version=2)
    paused = client.get(f"{at}/").content.decode()
    posted(client, f"{at}/resumptions/", expected_version=3)
    rotated = posted(client, f"{at}/rotations/", expected_version=4)
    posted(client, f"{at}/removals/", because="done", expected_version=5)

    assert changed.status_code == 302
    assert "Paused: repairs" in paused
    assert PREFIX in rotated.content.decode()
    channel.refresh_from_db()
    assert (channel.name, channel.state, channel.sealed) == ("night", "removed", "")
    assert sealed
    kinds = AuditEvent.objects.filter(kind__startswith="channel.").order_by("seq")
    assert [event.kind.removeprefix("channel.") for event in kinds] == [
        "made", "changed", "paused", "resumed", "rotated", "removed",
    ]  # fmt: skip
    assert client.get(f"{at}/").status_code == 404
    assert list(violations()) == []


def test_what_was_changed_meanwhile_is_409(client: Client) -> None:
    made(client)
    channel = Channel.objects.get()
    posted(client, f"/channels/{channel.pk}/pauses/", expected_version=1)

    answer = posted(client, f"/channels/{channel.pk}/removals/", because="x", expected_version=1)

    assert answer.status_code == 409
    assert Channel.objects.get().state == "paused"


def test_before_it_is_removed_the_page_says_what_nobody_would_tell(client: Client) -> None:
    made(client)
    a_row("other", severities=["warning"])
    page = client.get(f"/channels/{Channel.objects.get(name='ops').pk}/removals/")

    assert "No other channel tells of: critical." in page.content.decode()


@pytest.mark.parametrize("path", ["", "changes/", "rotations/", "removals/"])
def test_looking_changes_nothing(client: Client, path: str) -> None:
    made(client)
    at = f"/channels/{Channel.objects.get().pk}/{path}"
    before = list(Channel.objects.values()), Message.objects.count(), AuditEvent.objects.count()

    for purpose in ("", "prefetch"):
        assert client.get(at, headers={"Sec-Purpose": purpose}).status_code == 200
        assert client.head(at).status_code == 200

    after = list(Channel.objects.values()), Message.objects.count(), AuditEvent.objects.count()
    assert before == after


VERBS = ("tests", "pauses", "resumptions", "rotations", "removals", "changes")


@pytest.mark.parametrize("verb", VERBS)
def test_only_administrators_change_anything(verb: str) -> None:
    channel = a_row()
    others = signed_in("operate", "decide", "view_payloads", name="omar")

    answer = posted(others, f"/channels/{channel.pk}/{verb}/")

    assert answer.status_code == 403
    assert others.get("/channels/new/").status_code == 403
    page = others.get("/channels/").content.decode()
    assert channel.name in page
    assert "Send test" not in page
    assert not Message.objects.exists()


@pytest.mark.parametrize("verb", ["", *(f"{verb}/" for verb in VERBS)])
def test_another_tenants_channel_is_404(client: Client, verb: str) -> None:
    other = Tenant.objects.create(slug="other", name="Other")
    at = f"/channels/{a_row('foreign row', tenant=other).pk}/{verb}"
    by_post = client.post(at, {"because": "x"})

    assert by_post.status_code == 404 or (not verb and by_post.status_code == 405)
    assert verb in ("tests/", "pauses/", "resumptions/") or client.get(at).status_code == 404
    assert "foreign row" not in client.get("/channels/").content.decode()


def test_the_simulator_says_who_would_be_told(client: Client) -> None:
    a_row("night shift", severities=["critical"], workflows=["payments"])
    tenant = Tenant.objects.get(slug="default").pk
    asked = f"/channels/?tenant={tenant}&severity="

    fits = client.get(f"{asked}critical&workflow=payments").content.decode()
    other = client.get(f"{asked}critical&workflow=refunds").content.decode()
    wrong = client.get(f"{asked}loud")

    assert "takes <a" in fits
    assert "Nobody would be told." in other
    assert wrong.status_code == 422


def test_a_dead_channel_needs_an_administrator(client: Client) -> None:
    a_row("pager", dead_at=db_now(), failures=7, last_error="The receiver answered 503.")

    home = client.get("/").content.decode()

    assert "The channel pager reaches nobody: The receiver answered 503." in home


def test_mail_that_does_not_leave_stands_on_the_first_page(client: Client) -> None:
    mara = a_person("mara", "decide")
    mara.email = "mara@example.org"
    mara.save()
    news()
    Message.objects.update(attempts=5, error="SMTPServerDisconnected")

    assert "Mail does not leave" in client.get("/").content.decode()


@pytest.mark.usefixtures("allowed")
def test_no_secret_is_in_the_database_the_pages_the_audit_or_the_log(
    client: Client, caplog: pytest.LogCaptureFixture, serve: Serve, settings: Any
) -> None:
    """Though both receivers repeat whatever they were sent."""
    settings.CHANNEL_SCHEMES = ("json",)
    caplog.set_level("DEBUG")
    url = serve(lambda handler: say(handler, 500, f"{handler.path} {dict(handler.headers)}"))
    page = made(client, address=f"{url}/{CANARY}/in?token={CANARY}").content.decode()
    secret = re.findall(rf"{PREFIX}([A-Za-z0-9+/=]+)", page)[0]
    service = url.replace("http://", f"json://user:{CANARY}@")
    made(client, name="chat", kind="apprise", address=f"{service}/{CANARY}/?+X-Key={CANARY}")
    news(severity="critical")
    for channel in Channel.objects.all():
        posted(client, f"/channels/{channel.pk}/tests/")
    deliver_all()

    said = [caplog.text]
    for model in (Channel, Message, AuditEvent):
        said += [str(row) for row in model.objects.values()]
    places = [f"/channels/{channel.pk}/" for channel in Channel.objects.all()]
    said += [client.get(at).content.decode() for at in ("/", "/channels/", "/outbox/", *places)]
    whole = "\n".join(said)

    assert Message.objects.filter(state="dead", answer__startswith="500 ").count() == 2
    for unsaid in (CANARY, secret, b64encode(f"user:{CANARY}".encode()).decode()):
        assert unsaid not in whole
