"""Real couriers under a real watch: a slow receiver delays nobody else, and a killed one repeats under one id."""

import os
import signal
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from typing import Any

import psutil
import pytest
from django.db import transaction

from runs.engine.channel_couriers import FAILING_AT_ONCE, MOST_AT_ONCE
from runs.models import Channel, Message
from runs.queries.clock import db_now
from tests.approvals.builders import a_person
from tests.support.programs import Program, Site
from tests.support.waiting import eventually
from tests.telling.builders import a_channel, news
from tests.telling.conftest import Serve, say

pytestmark = [pytest.mark.processes, pytest.mark.usefixtures("allowed")]

AT_ONCE = 60


@pytest.fixture
def watch(site: Site) -> Program:
    site.settings["CHANNEL_NETWORKS"] = "127.0.0.0/8"
    return site.start("watch")


@pytest.fixture
def patient_watch(site: Site) -> Program:
    """Whose couriers are never through with a receiver that says nothing."""
    site.settings["CHANNEL_NETWORKS"] = "127.0.0.0/8"
    return site.launch(
        sys.executable,
        "-m",
        "tests.telling.patient_watch",
        DJANGO_SETTINGS_MODULE="config.settings",
    )


@pytest.fixture
def black_hole() -> Iterator[str]:
    """Takes connections and says nothing, ever."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


def couriers_at(watch: Program, port: int) -> list[psutil.Process]:
    """The processes of this watch that are connected to a receiver."""
    found = []
    for child in watch.family():
        with suppress(psutil.Error):
            if any(c.raddr and c.raddr.port == port for c in child.net_connections()):
                found.append(child)
    return found


@pytest.mark.usefixtures("patient_watch")
def test_a_black_holed_webhook_delays_neither_mail_nor_another_channel(
    site: Site, black_hole: str, serve: Serve
) -> None:
    person = a_person("mara", email="mara@example.org")
    a_channel("hole", to=black_hole)
    told: list[str] = []

    def answer(handler: Any) -> None:
        told.append(handler.headers["webhook-id"])
        say(handler, 200)

    a_channel("chat", to=serve(answer))
    with transaction.atomic():
        for number in range(AT_ONCE):
            news(f"silence {number}", users=[person.pk])

    left = Message.objects.filter(lane="mail", state="delivered")
    eventually(lambda: left.count() == AT_ONCE, what="every mail leaves")
    eventually(lambda: len(told) == AT_ONCE, what="every notice arrives")

    assert len(list((site.var / "mail").iterdir())) > 0
    hole = Message.objects.filter(lane=f"channel {Channel.objects.get(name='hole').pk}")
    assert (hole.filter(state="pending", error="").count(), hole.count()) == (AT_ONCE, AT_ONCE)


@pytest.mark.usefixtures("patient_watch")
def test_channels_that_hang_leave_room_for_those_that_do_not(black_hole: str, serve: Serve) -> None:
    """As many as couriers may be at work at once hang, and some more have news."""
    told: list[str] = []

    def answer(handler: Any) -> None:
        told.append(handler.headers["webhook-id"])
        say(handler, 200)

    with transaction.atomic():
        for number in range(MOST_AT_ONCE):
            a_channel(f"hole {number}", to=black_hole)
        for number in range(4):
            a_channel(f"chat {number}", to=serve(answer))
        news()

    eventually(lambda: len(told) == 4, what="every notice arrives")

    hung = Message.objects.filter(state="pending", error="")
    eventually(lambda: hung.count() == MOST_AT_ONCE, what="what arrived is booked")


def test_channels_that_keep_failing_are_tried_in_turn(watch: Program, serve: Serve) -> None:
    told: list[str] = []
    failed: list[str] = []
    before: list[int] = []

    def fail(handler: Any) -> None:
        failed.append(handler.path)
        time.sleep(1)
        say(handler, 500)

    def answer(handler: Any) -> None:
        before.append(len(failed))
        told.append(handler.headers["webhook-id"])
        say(handler, 200)

    with transaction.atomic():
        for number in range(FAILING_AT_ONCE):
            a_channel(f"failing {number}", to=serve(fail))
        a_channel("recovered", to=serve(answer))
        Channel.objects.update(failures=1, last_tried_at=db_now() - timedelta(hours=1))
        Channel.objects.filter(name="recovered").update(last_tried_at=db_now())
        for number in range(AT_ONCE):
            news(f"silence {number}")

    eventually(lambda: told, what="the one that is well again has its turn")
    assert before[0] < FAILING_AT_ONCE * AT_ONCE / 2


def test_a_courier_killed_between_sending_and_booking_repeats_under_the_same_id(
    watch: Program, serve: Serve
) -> None:
    came: list[str] = []

    def answer(handler: Any) -> None:
        came.append(handler.headers["webhook-id"])
        if len(came) == 1:
            for courier in couriers_at(watch, handler.server.server_port):
                os.kill(courier.pid, signal.SIGKILL)
        say(handler, 200)

    a_channel(to=serve(answer))
    news()

    eventually(lambda: len(came) == 1, what="it is sent")
    message = Message.objects.get()
    assert message.state == "pending"
    # Its lease ends, as it would by itself; then its pause.
    Message.objects.update(lease_until=db_now() - timedelta(seconds=1))
    eventually(
        lambda: Message.objects.filter(error__contains="may have arrived").exists(),
        what="that the courier ended is kept",
    )
    Message.objects.update(due_at=db_now())
    eventually(lambda: Message.objects.filter(state="delivered").exists(), what="it arrives")

    assert came == [str(message.pk)] * 2
