"""The watch is watched from outside: it pings there only while its duties go round."""

import http.server
import threading
from collections.abc import Iterator
from datetime import timedelta

import pytest
from pytest_django import Settings

from monitors.engine.watchdog import CLOCKWORK, JUDGE, Watchdog
from runs.conf import conf
from runs.ledger import ticks
from runs.models import Tick
from runs.queries.clock import db_now

VITAL = (CLOCKWORK, JUDGE)

pytestmark = pytest.mark.django_db(transaction=True)


class Outside:
    """Whom the watch pings; what it was asked is kept."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        outside = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outside.asked.append(self.path)
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                return

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def outside(settings: Settings) -> Iterator[Outside]:
    made = Outside()
    url = f"http://127.0.0.1:{made.server.server_port}"
    settings.BEAT_SECONDS = 10
    conf.cache_clear()
    settings.WATCHDOG_URL = f"{url}/ping/abc?from=milepost"
    yield made
    made.server.shutdown()
    made.server.server_close()
    conf.cache_clear()


def test_a_watch_whose_duties_go_round_is_heard_outside(outside: Outside) -> None:
    for duty in VITAL:
        ticks.note(duty, holder="tests")

    Watchdog().go_round()

    assert outside.asked == ["/ping/abc?from=milepost"]


@pytest.mark.parametrize("stale", VITAL)
def test_one_whose_duty_stands_still_is_not(outside: Outside, stale: str) -> None:
    for duty in VITAL:
        ticks.note(duty, holder="tests")
    Tick.objects.filter(duty=stale).update(at=db_now() - timedelta(minutes=1))

    Watchdog().go_round()

    assert outside.asked == []


def test_one_that_was_pinged_just_now_is_left_alone(outside: Outside) -> None:
    for duty in VITAL:
        ticks.note(duty, holder="tests")
    watchdog = Watchdog()

    watchdog.go_round()
    watchdog.go_round()

    assert len(outside.asked) == 1


def test_where_nobody_beats_no_judge_is_asked_for(outside: Outside, settings: Settings) -> None:
    settings.BEAT_SECONDS = 0
    conf.cache_clear()
    ticks.note(CLOCKWORK, holder="tests")

    Watchdog().go_round()

    assert outside.asked == ["/ping/abc?from=milepost"]
