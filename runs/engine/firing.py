"""Fires what is due: a duty of its own beside the clockwork, so that it never delays a takeover."""

import logging
import os
import socket
import time
from collections.abc import Callable

from django.db import DataError, Error, IntegrityError, close_old_connections, connection

from runs.engine.steady_clock import SteadyClock
from runs.ledger import firings, ticks
from runs.queries import schedules

log = logging.getLogger(__name__)

PASS_EVERY = 0.25
TICK_EVERY = 5.0
AT_ONCE = 100
# One schedule with thousands of missed times does not keep the others waiting.
LONGEST_TURN = 1.0
LONGEST_PASS = AT_ONCE * LONGEST_TURN + 60.0
DUTY = "schedules"


class Firing:
    """One pass after another; what is wrong with one schedule does not stop the others."""

    def __init__(self) -> None:
        self.holder = f"{socket.gethostname()}/{os.getpid()}"
        self._clock = SteadyClock(self.holder)
        self._last_tick = -TICK_EVERY

    def run(self, *, stopped: Callable[[], bool], must_end: Callable[[float | None], None]) -> None:
        """Go round until stopped; a pass that hangs is killed by the parent."""
        while not stopped():
            must_end(LONGEST_PASS)
            self.go_round()
            must_end(None)
            time.sleep(PASS_EVERY)
        connection.close()

    def go_round(self) -> int:
        """One pass; how many firings were decided. After a jump of the clock none are (R31)."""
        decided = 0
        try:
            close_old_connections()
            if self._clock.is_steady():
                decided = self._fire_what_is_due()
            if time.monotonic() - self._last_tick >= TICK_EVERY:
                ticks.note(DUTY, holder=self.holder)
                self._last_tick = time.monotonic()
        except Error as error:
            log.warning("firing.database_away", extra={"error": str(error)})
            connection.close()
        return decided

    def _fire_what_is_due(self) -> int:
        decided = 0
        for schedule_id in schedules.with_a_queued_firing(at_most=AT_ONCE):
            decided += int(_tried(firings.start_queued, schedule_id))
        for schedule_id in schedules.due(at_most=AT_ONCE):
            until = time.monotonic() + LONGEST_TURN
            while (fired := _tried(firings.fire, schedule_id)) and time.monotonic() < until:
                decided += fired
            decided += fired
        return decided


def _tried(act: Callable[[int], int], schedule_id: int) -> int:
    try:
        return act(schedule_id)
    # What the database refuses of one schedule's rows says nothing about the others.
    except (IntegrityError, DataError):
        log.exception("firing.refused", extra={"schedule": schedule_id})
    except Error:
        raise
    # The rim: one broken schedule, with its name in the log, and the others are fired.
    except Exception:
        log.exception("firing.failed", extra={"schedule": schedule_id})
    return 0
