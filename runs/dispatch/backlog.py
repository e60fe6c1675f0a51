"""Is placed work being taken? Asked by main all the time; a cluster that does not answer is frozen."""

import logging
import threading
import time
from dataclasses import dataclass

from django.db import close_old_connections

from runs.dispatch import bell, drain, hooks
from runs.dispatch.pulse import Pulse

LOOK = 0.25
RING_AFTER = 1.0  # a doorbell was lost: ring once more
FROZEN_AFTER = 4.0  # rung, a worker idle, and nobody came: noticed within 5 s of placing

log = logging.getLogger(__name__)


@dataclass(slots=True, kw_only=True)
class Silence:
    """For how long work waited, a worker was idle, and no doorbell was answered."""

    answered: float = 0.0
    lasted: float = 0.0
    rung: bool = False

    def look(self, *, waiting: bool, idle: bool, answered: float, passed: float) -> None:
        """Count one more look, for no longer than two should take: who was kept from it saw nothing."""
        if waiting and idle and answered == self.answered:
            self.lasted += min(passed, 2 * LOOK)
            return
        self.answered, self.lasted, self.rung = answered, 0.0, False

    @property
    def wants_a_ring(self) -> bool:
        return self.lasted >= RING_AFTER and not self.rung

    @property
    def is_frozen(self) -> bool:
        return self.lasted >= FROZEN_AFTER


class Backlog(threading.Thread):
    """Looks from a thread of main: a query that hangs must not keep main from stopping."""

    def __init__(self, pulse: Pulse) -> None:
        super().__init__(name="backlog", daemon=True)
        self.pulse, self.silence, self.frozen, self.blind = pulse, Silence(), False, False

    def run(self) -> None:
        if self._is_work_waiting():
            self._ring()  # whoever rang for it may have rung the cluster that died
        last = time.monotonic()
        while not (self.frozen or drain.requested()):
            waiting, now = self._is_work_waiting(), time.monotonic()
            idle, answered = self.pulse.idle() > 0, self.pulse.board.answered
            self.silence.look(waiting=waiting, idle=idle, answered=answered, passed=now - last)
            last = now
            if self.silence.wants_a_ring:
                self._ring()
            self.frozen = self.silence.is_frozen
            time.sleep(LOOK)

    def _is_work_waiting(self) -> bool:
        """False as well where the database does not answer: who is blind accuses nobody."""
        try:
            close_old_connections()
            waiting = hooks.call("unclaimed") is not None
        except Exception:
            if not self.blind:
                log.warning("backlog.blind", exc_info=True)
            self.blind = True
            return False
        self.blind = False
        return waiting

    def _ring(self) -> None:
        self.silence.rung = True
        try:
            bell.ring(0)
        except Exception:
            log.warning("backlog.not_rung", exc_info=True)
            self.silence = Silence()
