"""Channels deliver: signed, under one id, again for hours, and a dead one is told of by another."""

import threading
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail

from runs.channels import webhook
from runs.engine import courier
from runs.examples.webhook_receiver import WebhookReceiver
from runs.ledger import channels, outbox
from runs.models import AuditEvent, Channel, Message
from runs.queries.clock import db_now
from runs.rules import canonical
from runs.rules.channels import DEAD_AFTER
from tests.approvals.builders import a_person
from tests.telling.builders import OPERATOR, a_channel, a_wish, deliver_all, hasten, news
from tests.telling.conftest import Serve, say

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("allowed")]


@pytest.fixture(autouse=True)
def _mail_is_kept(settings: Any) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"


def dead(serve: Serve, name: str = "pager") -> Channel:
    """A channel whose receiver refused so often that it counts as dead."""
    url = serve(lambda handler: say(handler, 503, "down for repair"))
    channel = a_channel(name, to=url).channel
    news()
    for _ in range(DEAD_AFTER):
        hasten()
        courier.deliver_next(f"channel {channel.pk}")
    channel.refresh_from_db()
    return channel


def test_a_webhook_is_signed_and_says_title_and_link_only(receiver: WebhookReceiver) -> None:
    made = a_channel(to=receiver.url)
    receiver.secrets = [made.secret]

    news()
    deliver_all()

    message = Message.objects.get()
    assert receiver.taken[str(message.pk)] == {
        "type": "decision.opened",
        "timestamp": canonical.loads(message.payload)["at"],
        "data": {
            "title": "payments waits for a decision",
            "link": canonical.loads(message.payload)["link"],
            "severity": "warning",
        },
    }
    assert message.state == "delivered"
    assert message.answer == "200 taken"
    made.channel.refresh_from_db()
    assert made.channel.last_delivered_at is not None


def test_a_secret_is_rotated_without_a_gap(receiver: WebhookReceiver) -> None:
    made = a_channel(to=receiver.url)
    old, new = made.secret, channels.rotate(OPERATOR, made.channel.pk).secret

    for known in (old, new):
        receiver.secrets = [known]
        news(known)
        deliver_all()
    Channel.objects.update(old_secret_until=db_now())
    receiver.secrets = [old]
    news("later")
    deliver_all()

    assert len(receiver.taken) == 2
    assert receiver.refused == ["None of its signatures is made with this secret."]


def test_a_repeat_carries_the_same_id_and_body(serve: Serve) -> None:
    came: list[tuple[str, int]] = []

    def answer(handler: Any) -> None:
        came.append((handler.headers["webhook-id"], int(handler.headers["Content-Length"])))
        say(handler, 500 if len(came) == 1 else 204)

    a_channel(to=serve(answer))
    news()
    deliver_all()
    hasten()
    deliver_all()

    assert len(came) == 2
    assert came[0] == came[1]
    assert Message.objects.get().state == "delivered"


def test_it_is_tried_for_hours_and_then_given_up(serve: Serve) -> None:
    a_channel(to=serve(lambda handler: say(handler, 500)))
    pauses = [courier.pause_after(attempt) for attempt in range(1, outbox.MOST_ATTEMPTS)]
    news()

    for _ in range(outbox.MOST_ATTEMPTS):
        hasten()
        deliver_all()

    assert sum(pauses, timedelta(0)) > timedelta(hours=8)
    assert pauses == sorted(pauses)
    assert Message.objects.filter(kind="decision.opened").get().state == "dead"


def test_a_receiver_may_ask_to_be_left_alone_for_a_while(serve: Serve) -> None:
    a_channel(to=serve(lambda handler: say(handler, 429, "later", Retry_After="600")))
    news()
    before = db_now()

    deliver_all()

    assert Message.objects.get().due_at >= before + timedelta(seconds=600)


def test_a_dead_channel_is_told_of_through_another(serve: Serve, receiver: WebhookReceiver) -> None:
    other = a_channel("chat", to=receiver.url, severities=("critical",))
    receiver.secrets = [other.secret]

    channel = dead(serve)
    courier.deliver_next(f"channel {other.channel.pk}")

    assert channel.dead_at is not None
    told = [taken["data"]["title"] for taken in receiver.taken.values()]
    assert told == ["The channel pager reaches nobody: 5 deliveries in a row failed"]
    assert AuditEvent.objects.filter(kind="channel.dead").count() == 1


def test_without_another_channel_people_are_told_by_mail(serve: Serve) -> None:
    a_person("mara", email="mara@example.org")

    dead(serve)
    deliver_all()

    assert [sent.subject for sent in mail.outbox] == [
        "The channel pager reaches nobody: 5 deliveries in a row failed"
    ]


def test_a_dead_channel_is_told_of_once_and_lives_again_when_something_arrives(
    serve: Serve, receiver: WebhookReceiver
) -> None:
    channel = dead(serve)
    news("another")
    hasten()
    deliver_all()
    assert Message.objects.filter(kind="channel.dead").count() <= 1

    channels.change(
        OPERATOR,
        channel.pk,
        a_wish(channel.name, to=receiver.url),
    )
    receiver.secrets = [channels.rotate(OPERATOR, channel.pk).secret]
    hasten()
    deliver_all()

    channel.refresh_from_db()
    assert channel.dead_at is None
    assert channel.failures == 0


def test_mail_that_does_not_leave_is_told_of_by_a_channel(
    receiver: WebhookReceiver, settings: Any
) -> None:
    settings.EMAIL_BACKEND = "no.such.Backend"
    person = a_person("mara", email="mara@example.org")
    made = a_channel(to=receiver.url, severities=("critical",))
    receiver.secrets = [made.secret]
    news(users=[person.pk])

    for _ in range(DEAD_AFTER):
        hasten()
        courier.deliver_next("mail")
    courier.deliver_next(f"channel {made.channel.pk}")

    told = [taken["data"]["title"] for taken in receiver.taken.values()]
    assert told == ["Mail does not leave: 5 tries of one notice failed"]


def test_mail_whose_courier_is_ended_each_time_is_told_of_too(
    receiver: WebhookReceiver, settings: Any
) -> None:
    settings.EMAIL_BACKEND = "no.such.Backend"
    person = a_person("mara", email="mara@example.org")
    a_channel(to=receiver.url, severities=("critical",))
    news(users=[person.pk])
    for _ in range(DEAD_AFTER - 1):
        hasten()
        courier.deliver_next("mail")

    hasten()
    assert outbox.take(lane="mail", lease=timedelta(0)) is not None
    courier.deliver_next("mail")

    assert Message.objects.filter(kind="channel.dead").count() == 1


def test_a_mail_channel_tells_those_it_names(settings: Any) -> None:
    a_channel(kind="mail", to="ops@example.org, night@example.org")

    news()
    deliver_all()

    sent = mail.outbox[0]
    assert sent.to == ["ops@example.org", "night@example.org"]
    assert sent.extra_headers["Message-ID"] == f"<{Message.objects.get().pk}@milepost>"


def test_a_service_of_apprise_is_told_and_its_answer_kept(serve: Serve, settings: Any) -> None:
    settings.CHANNEL_SCHEMES = ("json",)
    url = serve(lambda handler: say(handler, 200, "posted"))
    a_channel(kind="apprise", to=url.replace("http://", "json://"))

    news()
    deliver_all()

    assert Message.objects.get().answer == "200 posted"


def test_a_service_that_is_not_allowed_any_more_gets_nothing(serve: Serve, settings: Any) -> None:
    url = serve(lambda handler: say(handler, 200))
    a_channel(kind="apprise", to=url.replace("http://", "json://"))
    settings.CHANNEL_SCHEMES = ("slack",)

    news()
    deliver_all()

    assert "not allowed by CHANNEL_SCHEMES" in Message.objects.get().error


def test_a_test_is_tried_once_and_shows_the_answer_without_secrets(serve: Serve) -> None:
    answer = "no: \x1b[31m" + "x" * 900
    channel = a_channel(
        to=serve(lambda handler: say(handler, 418, f"{handler.path} {answer}")) + "/hook/T0ken-4711"
    ).channel

    channels.put_test(OPERATOR, channel.pk)
    deliver_all()

    message = Message.objects.get()
    assert message.state == "dead"
    assert message.answer.startswith("418 ")
    assert "T0ken-4711" not in message.answer
    assert "\x1b" not in message.answer
    assert "the first 300 characters" in message.answer
    channel.refresh_from_db()
    assert channel.failures == 0
    assert channel.last_error


def test_a_paused_channel_waits_and_a_removed_one_keeps_nothing(serve: Serve) -> None:
    came: list[str] = []

    def answer(handler: Any) -> None:
        came.append(handler.path)
        say(handler, 200)

    url = serve(answer)
    channel = a_channel(to=url).channel
    news()
    channels.pause(OPERATOR, channel.pk, because="repairs")
    assert news("meanwhile") == 0
    deliver_all()
    assert not came

    channels.resume(OPERATOR, channel.pk)
    deliver_all()
    news("last")
    channels.remove(OPERATOR, channel.pk, because="gone")
    deliver_all()

    assert len(came) == 1
    channel.refresh_from_db()
    assert channel.sealed == ""
    assert Message.objects.get(dedup_key__startswith="last").state == "dead"


def test_another_key_of_the_installation_is_named_as_the_reason(
    serve: Serve, settings: Any
) -> None:
    a_channel(to=serve(lambda handler: say(handler, 200)))
    settings.SECRET_KEY = "another-" * 8
    news()

    deliver_all()

    assert "sealed under another SECRET_KEY" in Message.objects.get().error


def test_a_key_that_is_kept_as_a_fallback_still_opens(
    receiver: WebhookReceiver, settings: Any
) -> None:
    made = a_channel(to=receiver.url)
    receiver.secrets = [made.secret]
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another-" * 8
    news()

    deliver_all()

    assert len(receiver.taken) == 1


def test_a_receiver_that_says_nothing_is_left_after_its_limit(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhook, "SECONDS", 0.2)
    silent = threading.Event()
    a_channel(to=serve(lambda handler: silent.wait(20) and None))
    news()

    deliver_all()
    silent.set()

    assert "timed out" in Message.objects.get().error
