"""Workers say "I live" over HTTP: signed, numbered, kept back when nobody hears, none of it in a step's way."""

import http.server
import threading
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.test import Client
from pytest_django import Settings

from monitors.ledger import keeping
from monitors.models import Monitor
from monitors.rules.own import Own, code_of, of_a_process
from monitors.rules.states import MonitorKind
from runs.conf import conf
from runs.engine.heartbeats import Heartbeats
from runs.queries.clock import db_now
from runs.rules import beats
from runs.rules.beats import Beat, UnusableBeats
from runs.rules.fence import Fence
from tests.support import runs
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.django_db(transaction=True)
WORKER = str(uuid4())


def watched(kind: MonitorKind = MonitorKind.WORKER, subject: str = WORKER) -> Monitor:
    tenant = runs.the_tenant().pk
    own: Own = of_a_process(kind, subject, subject, tenant_id=tenant, beat=10)
    keeping.keep(own, now=db_now())
    return Monitor.objects.get(kind=kind.value, subject=subject)


def deliver(client: Client, *said: Beat, secret: str = "") -> Any:
    body = beats.said(said)
    signed = beats.signature_of(body, secret=secret or conf().secret)
    return client.post(
        "/beats/", body, content_type="application/json", headers={beats.SIGNATURE: signed}
    )


def a_beat(number: int, *, fence: int = 0, age: float = 0.0, kind: str = "worker") -> Beat:
    return Beat(kind=kind, subject=WORKER, fence=fence, number=number, age=age)


def test_a_signed_beat_is_counted(client: Client) -> None:
    monitor = watched()

    answer = deliver(client, a_beat(1))

    assert answer.json() == {"unknown": []}
    monitor.refresh_from_db()
    assert (monitor.n_pings, monitor.beat_number, monitor.state) == (1, 1, "up")


def test_a_beat_of_another_installation_is_refused(client: Client) -> None:
    monitor = watched()

    answer = deliver(client, a_beat(1), secret="another secret altogether")

    assert answer.status_code == 403
    monitor.refresh_from_db()
    assert monitor.n_pings == 0


def test_what_nobody_watches_is_named_in_the_answer(client: Client) -> None:
    assert deliver(client, a_beat(1)).json() == {"unknown": [f"worker:{WORKER}"]}


def test_a_beat_that_comes_twice_or_late_changes_nothing(client: Client) -> None:
    """I3, R21"""
    monitor = watched()
    deliver(client, a_beat(5))
    monitor.refresh_from_db()
    heard_at = monitor.last_ping_at

    deliver(client, a_beat(5), a_beat(4))

    monitor.refresh_from_db()
    assert (monitor.last_ping_at, monitor.beat_number) == (heard_at, 5)


def test_a_beat_under_an_old_fence_changes_nothing(client: Client) -> None:
    """I3, R21: the run is in other hands."""
    monitor = watched(MonitorKind.RUN)
    Monitor.objects.filter(pk=monitor.pk).update(fence=7, beat_number=0)

    deliver(client, a_beat(99, fence=6, kind="run"))
    monitor.refresh_from_db()
    assert monitor.last_ping_at is None
    deliver(client, a_beat(1, fence=7, kind="run"))

    monitor.refresh_from_db()
    assert monitor.last_ping_at is not None


def test_what_was_kept_back_is_shown_with_its_time(client: Client) -> None:
    monitor, before = watched(), db_now()

    deliver(client, a_beat(1, age=30.0), a_beat(2, age=20.0), a_beat(3))

    after = db_now()
    first, second, last = monitor.pings.order_by("n")
    for kept, age in ((first, 30), (second, 20)):
        assert kept.sent_at is not None
        assert before <= kept.sent_at + timedelta(seconds=age) <= after
    assert last.sent_at is None


def test_each_workers_beat_says_that_the_cluster_lives(client: Client) -> None:
    watched()
    cluster = watched(MonitorKind.CLUSTER, "cluster")

    deliver(client, a_beat(1))

    cluster.refresh_from_db()
    assert cluster.n_pings == 1


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b'{"beats": 7}',
        b'{"beats": [{"kind": "moon", "subject": "x", "fence": 0, "number": 1, "age": 0}]}',
        b'{"beats": [{"kind": "worker", "subject": "x", "fence": 0, "number": 1, "age": 0}]}',
        b'{"beats": [{"kind": "watch", "subject": "x", "fence": -1, "number": 1, "age": 0}]}',
        b'{"beats": [{"kind": "watch", "subject": "x", "fence": 0, "number": true, "age": 0}]}',
    ],
)
def test_what_is_no_list_of_beats_is_refused(body: bytes) -> None:
    with pytest.raises(UnusableBeats):
        beats.heard(body)


def test_an_address_is_made_from_the_secret_and_the_subject() -> None:
    codes = {
        code_of(kind, subject, secret=secret)
        for kind in ("run", "worker")
        for subject in ("1", "2")
        for secret in ("a", "b")
    }

    assert len(codes) == 8
    assert code_of("run", "1", secret="a") in codes


class Ear:
    """A server that hears beats, or refuses them."""

    def __init__(self) -> None:
        self.heard: list[Beat] = []
        self.refuses = False
        ear = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if not ear.refuses:
                    ear.heard += beats.heard(body)
                self.send_response(503 if ear.refuses else 200)
                self.end_headers()
                self.wfile.write(b'{"unknown": []}')

            def log_message(self, *_: object) -> None:
                return

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}"


@pytest.fixture
def ear(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ear]:
    """It hears in a thread of this process, which may have to wait for its turn."""
    monkeypatch.setattr("runs.engine.heartbeats.PATIENCE", PATIENCE)
    made = Ear()
    settings.SITE_URL = made.url
    yield made
    made.server.shutdown()
    made.server.server_close()


def a_fence(number: int) -> Fence:
    run = worker = UUID(WORKER)
    return Fence(run_id=run, worker_id=worker, number=number, tenant_id=1, assignment_id=1)


@pytest.mark.one_database
def test_a_run_beats_under_its_fence_with_rising_numbers(
    ear: Ear, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [1000.0]
    monkeypatch.setattr("runs.engine.heartbeats._now", lambda: clock[0])
    speaker = Heartbeats("worker", WORKER, every=10)

    speaker.beat_once()
    with speaker.of(a_fence(7), 2.0):
        for _ in range(3):
            clock[0] += 2.0
            speaker.beat_once()
    clock[0] += 2.0
    speaker.beat_once()

    told = [(beat.kind, beat.fence, beat.number) for beat in ear.heard]
    assert told == [("worker", 0, 1), ("run", 7, 2), ("run", 7, 3), ("run", 7, 4)]


@pytest.mark.one_database
def test_what_is_not_heard_is_kept_and_delivered_later_with_its_age(
    ear: Ear, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [1000.0]
    monkeypatch.setattr("runs.engine.heartbeats._now", lambda: clock[0])
    speaker = Heartbeats("worker", WORKER, every=10)
    ear.refuses = True
    for _ in range(3):
        speaker.beat_once()
        clock[0] += 10.0

    ear.refuses = False
    speaker.beat_once()

    assert [(beat.number, beat.age) for beat in ear.heard] == [(1, 30), (2, 20), (3, 10), (4, 0)]


@pytest.mark.one_database
def test_a_run_without_heartbeat_does_not_beat(ear: Ear) -> None:
    speaker = Heartbeats("worker", WORKER, every=10)
    speaker.beat_once()

    with speaker.of(a_fence(1), None):
        speaker.beat_once()

    assert [beat.kind for beat in ear.heard] == ["worker"]
