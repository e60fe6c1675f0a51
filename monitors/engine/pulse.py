"""The watch's own ping: through the pages every second, and to somebody outside while all is well (R34)."""

import http.client
import logging
import time
from collections.abc import Callable
from datetime import timedelta
from urllib.parse import urlsplit

from django.conf import settings
from django.db import Error, close_old_connections, connection

from monitors.engine.parts_watched import DUTY_LIMIT
from monitors.rules.own import PULSE_EVERY, WATCH
from runs.conf import conf
from runs.engine.heartbeats import NotHeard, send
from runs.queries.clock import db_now
from runs.queries.liveness import ticks
from runs.rules.beats import Beat

log = logging.getLogger(__name__)

WATCHDOG_EVERY = 30.0
PATIENCE = 5.0
LONGEST_ROUND = 30.0
# Who watches the watch outside hears of it only while these go round.
VITAL = ("clockwork", "judge")


class Pulse:
    """Never judged by whether it is alive itself, only by what comes through."""

    def __init__(self) -> None:
        self._number = 0
        self._next_watchdog = 0.0
        self._heard: bool | None = None

    def go_round(self) -> None:
        self._beat()
        if settings.WATCHDOG_URL and time.monotonic() >= self._next_watchdog:
            self._next_watchdog = time.monotonic() + WATCHDOG_EVERY
            if self._duties_go_round():
                _ping(settings.WATCHDOG_URL)

    def _beat(self) -> None:
        self._number += 1
        try:
            send([Beat(kind="watch", subject=WATCH, fence=0, number=self._number)])
        except NotHeard as error:
            if self._heard is not False:
                log.warning("pulse.not_heard", extra={"error": str(error)})
            self._heard = False
        else:
            self._heard = True

    def _duties_go_round(self) -> bool:
        """A watch that only pings must not pass for one that watches."""
        try:
            close_old_connections()
            found, now = ticks(VITAL), db_now()
        except Error as error:
            log.warning("pulse.database_away", extra={"error": str(error)})
            connection.close()
            return False
        return len(found) == len(VITAL) and all(now - at <= DUTY_LIMIT for at in found.values())


def _ping(address: str) -> None:
    where = urlsplit(address)
    secured = where.scheme == "https"
    opened = http.client.HTTPSConnection if secured else http.client.HTTPConnection
    asked = opened(str(where.hostname), where.port, timeout=PATIENCE)
    path = (where.path or "/") + (f"?{where.query}" if where.query else "")
    try:
        asked.request("GET", path, headers={"User-Agent": "milepost-watch"})
        status = asked.getresponse().status
    except (OSError, http.client.HTTPException) as error:
        log.warning("watchdog.not_reached", extra={"error": f"{type(error).__name__}: {error}"})
        return
    finally:
        asked.close()
    if status >= http.HTTPStatus.BAD_REQUEST:
        log.warning("watchdog.refused", extra={"status": status})


def run(*, stopped: Callable[[], bool], must_end: Callable[[float | None], None]) -> None:
    """As a child of the watch."""
    every, pulse = PULSE_EVERY.total_seconds(), Pulse()
    beats = conf().beat_every > timedelta()
    while not stopped():
        must_end(LONGEST_ROUND)
        began = time.monotonic()
        if beats:
            pulse.go_round()
        must_end(None)
        time.sleep(max(every - (time.monotonic() - began), every / 10))
    connection.close()
