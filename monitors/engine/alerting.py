"""Reminds people of what is still open, and finds what is wrong without a monitor."""

import logging
import os
import socket
import time
from collections.abc import Callable

from django.db import Error, close_old_connections, connection

from monitors.ledger import reminders, sweeping
from monitors.queries.incidents import tenants_to_tell
from runs.engine.steady_clock import SteadyClock
from runs.ledger import ticks

log = logging.getLogger(__name__)

PASS_EVERY = 1.0
# What sweeping reads has no index of its own.
TICK_EVERY = 5.0
LONGEST_PASS = 120.0
DUTY = "alerts"


class Alerting:
    """One pass after another; what is wrong with one tenant's incidents does not stop the others."""

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

    def go_round(self) -> None:
        """One pass. After a jump of the clock nobody is reminded (R31)."""
        try:
            close_old_connections()
            if self._clock.is_steady():
                for tenant_id in tenants_to_tell():
                    _tried(tenant_id)
            if time.monotonic() - self._last_tick >= TICK_EVERY:
                sweeping.sweep()
                ticks.note(DUTY, holder=self.holder)
                self._last_tick = time.monotonic()
        except Error as error:
            log.warning("alerting.database_away", extra={"error": str(error)})
            connection.close()


def _tried(tenant_id: int) -> None:
    try:
        reminders.remind(tenant_id)
    except Error:
        raise
    # The rim: one tenant's incidents, with its number in the log, and the others are told.
    except Exception:
        log.exception("alerting.failed", extra={"tenant": tenant_id})
