"""The watch's own ping, through the pages every second (R34)."""

import logging
import time
from collections.abc import Callable
from datetime import timedelta

from monitors.rules.own import PULSE_EVERY, WATCH
from runs.conf import conf
from runs.engine.heartbeats import NotHeard, send
from runs.rules.beats import Beat

log = logging.getLogger(__name__)

LONGEST_ROUND = 30.0


class Pulse:
    """Never judged by whether it is alive itself, only by what comes through."""

    def __init__(self) -> None:
        self._number = 0
        self._heard: bool | None = None

    def go_round(self) -> None:
        self._number += 1
        try:
            send([Beat(kind="watch", subject=WATCH, fence=0, number=self._number)])
        except NotHeard as error:
            if self._heard is not False:
                log.warning("pulse.not_heard", extra={"error": str(error)})
            self._heard = False
        else:
            self._heard = True


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
