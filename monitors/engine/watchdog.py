"""Somebody outside is pinged while the duties of the watch go round: whoever watches the watch (R34).

Apart from the watch's own ping: an address outside that does not answer must not delay that one.
"""

import http.client
import logging
import time
from collections.abc import Callable
from datetime import timedelta
from urllib.parse import urlsplit

from django.conf import settings
from django.db import Error, close_old_connections, connection

from monitors.engine.parts_watched import DUTY_LIMIT
from runs.conf import conf
from runs.engine.rounds import MustEnd, go_on
from runs.queries.clock import db_now
from runs.queries.liveness import ticks

log = logging.getLogger(__name__)

PING_EVERY = 30.0
LOOK_EVERY = 0.5
PATIENCE = 5.0
LONGEST_ROUND = 30.0
CLOCKWORK, JUDGE = "clockwork", "judge"


class Watchdog:
    """Pings outside now and then, as long as all is well here."""

    def __init__(self) -> None:
        self._next = 0.0

    def go_round(self) -> None:
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + PING_EVERY
            if _duties_go_round():
                _ping(settings.WATCHDOG_URL)


def vital() -> tuple[str, ...]:
    """A watch that only pings must not pass for one that watches; where nobody beats, none judges."""
    return (CLOCKWORK, JUDGE) if conf().beat_every > timedelta() else (CLOCKWORK,)


def _duties_go_round() -> bool:
    duties = vital()
    try:
        close_old_connections()
        found, now = ticks(duties), db_now()
    except Error as error:
        log.warning("watchdog.database_away", extra={"error": str(error)})
        connection.close()
        return False
    return len(found) == len(duties) and all(now - at <= DUTY_LIMIT for at in found.values())


def _ping(address: str) -> None:
    where = urlsplit(address)
    secured = where.scheme == "https"
    opened = http.client.HTTPSConnection if secured else http.client.HTTPConnection
    asked = opened(str(where.hostname), where.port, timeout=PATIENCE)
    path = (where.path or "/") + (f"?{where.query}" if where.query else "")
    try:
        asked.request("GET", path, headers={"User-Agent": "milepost-watch"})
        status = asked.getresponse().status
    except (OSError, http.client.HTTPException, UnicodeError) as error:
        log.warning("watchdog.not_reached", extra={"error": f"{type(error).__name__}: {error}"})
        return
    finally:
        asked.close()
    if status >= http.HTTPStatus.BAD_REQUEST:
        log.warning("watchdog.refused", extra={"status": status})


def run(*, stopped: Callable[[], bool], must_end: MustEnd) -> None:
    """As a child of the watch, where there is somebody to ping."""
    go_on(
        Watchdog().go_round,
        every=LOOK_EVERY,
        longest=LONGEST_ROUND,
        stopped=stopped,
        must_end=must_end,
    )
