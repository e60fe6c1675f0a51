"""The clockwork: what is due is done, what is lost is taken over, what waits is rung for."""

import logging
import time
from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import TypeVar
from uuid import UUID

from django.db import Error, close_old_connections, connection

from runs import conf as settings
from runs.conf import conf
from runs.engine import clock_duties, identity, stopping
from runs.engine.clock_duties import ClockDuty
from runs.engine.deadlines import Deadlines
from runs.engine.freed_locks import FreedLocks
from runs.engine.overdue import Overdue
from runs.engine.rounds import holder
from runs.engine.steady_clock import SteadyClock
from runs.engine.takeover import take_over_lost
from runs.engine.writer import Writer
from runs.ledger import superseding, ticks, waking, workers
from runs.queries import due
from runs.queries.clock import db_now
from runs.queries.workers import last_tick

log = logging.getLogger(__name__)

PASS_EVERY = 0.2
SLOW_DUTIES_EVERY = 1.0
# After a gap of this length in its own passes nobody is dead yet (R25).
BLIND_AFTER = 5.0
AT_ONCE = 200

Row = TypeVar("Row", int, UUID)


class Clockwork:
    """One pass after another; what is wrong with one pass is written down and tried again."""

    def __init__(self) -> None:
        self.here = identity.of_this_process()
        self.holder = holder()
        self._last_pass: float | None = None
        self._last_slow = 0.0
        self.clock = SteadyClock(self.holder)
        self._writer, self._locks = Writer(), FreedLocks()
        self._overdue, self._deadlines = Overdue(), Deadlines()

    def run(self, *, stopped: Callable[[], bool]) -> None:
        """Go round until stopped."""
        while not stopped():
            self.go_round()
            time.sleep(PASS_EVERY)
        connection.close()

    def go_round(self) -> None:
        """One pass. A database that is away makes the pass blind, never wrong."""
        try:
            close_old_connections()
            freed = self._writer.look(here=self.here)
            steady = self.clock.is_steady()
            blind = self._locks.server_restarted() or freed or not steady or self._was_blind()
            if blind:
                self._locks.distrust()
                extended = workers.extend_leases()
                log.info("clockwork.leases_extended", extra={"workers": extended})
            take_over_lost(seen_from=self.here, leases_count=not blind, locks=self._locks)
            if steady:
                self._close_what_is_due()
            if time.monotonic() - self._last_slow >= SLOW_DUTIES_EVERY:
                self._slow_duties(steady=steady)
            self._last_pass = time.monotonic()
        except Error as error:
            log.warning("clockwork.database_away", extra={"error": str(error)})
            connection.close()

    def _was_blind(self) -> bool:
        """Nobody looked for a while: not this clockwork, nor, before its first pass, another one (R25)."""
        if self._last_pass is not None:
            return time.monotonic() - self._last_pass >= BLIND_AFTER
        at = last_tick("clockwork")
        return at is None or db_now() - at > timedelta(seconds=BLIND_AFTER)

    def _close_what_is_due(self) -> None:
        _each(due.waits_due(at_most=AT_ONCE), waking.expire)

    def _slow_duties(self, *, steady: bool) -> None:
        self._last_slow = time.monotonic()
        _each(due.waits_with_a_kept_event(at_most=AT_ONCE), waking.match_event)
        _each(due.restarts_too_late(at_most=AT_ONCE), superseding.call_off)
        self._ring_again()
        self._overdue.look(here=self.here)
        if steady:
            _each(self._deadlines.over(), stopping.stop_unheld)
            for duty in clock_duties.registered():
                _apart(duty)
        ticks.note("clockwork", holder=self.holder)

    def _ring_again(self) -> None:
        """At most once for each idle worker, so that placed runs do not fill the queue (R33)."""
        older_than = conf().ring_again_after
        for assignment_id in due.unclaimed(older_than=older_than):
            settings.ring(assignment_id)


def _apart(duty: ClockDuty) -> None:
    """What the database refuses of another app's duty ends that duty, and not the pass."""
    try:
        _each(duty.due(at_most=AT_ONCE), duty.act)
    except Error as error:
        log.warning("clockwork.duty_broken_off", extra={"duty": duty.name, "error": str(error)})
        # A connection that is gone is left here, so that the rest of the pass has another one.
        close_old_connections()


def _each(ids: Iterable[Row], act: Callable[[Row], object]) -> None:
    """One row that cannot be served does not keep the others waiting."""
    for number in ids:
        try:
            act(number)
        except Error:
            raise
        except Exception:
            told = {"duty": getattr(act, "__name__", ""), "row": str(number)}
            log.exception("clockwork.duty_failed", extra=told)
