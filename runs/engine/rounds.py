"""How a duty of the watch goes round: one pass after another, and what is wrong with one thing stops no other."""

import logging
import os
import socket
import time
from collections.abc import Callable
from typing import TypeVar

from django.db import DataError, Error, IntegrityError, close_old_connections, connection

from runs.engine.steady_clock import SteadyClock
from runs.ledger import ticks

log = logging.getLogger(__name__)

TICK_EVERY = 5.0
MustEnd = Callable[[float | None], None]
Answered = TypeVar("Answered")


def holder() -> str:
    """Who notes the ticks of this process."""
    return f"{socket.gethostname()}/{os.getpid()}"


def go_on(
    go_round: Callable[[], object],
    *,
    every: float,
    longest: float,
    stopped: Callable[[], bool],
    must_end: MustEnd,
) -> None:
    """Go round until stopped; a pass that hangs longer than `longest` is killed by the parent."""
    while not stopped():
        must_end(longest)
        go_round()
        must_end(None)
        time.sleep(every)
    connection.close()


def through(act: Callable[[], int], *, duty: str) -> int:
    """One pass; what it did. A database that is away ends it, and not the duty."""
    try:
        close_old_connections()
        return act()
    except Error as error:
        log.warning("duty.database_away", extra={"duty": duty, "error": str(error)})
        connection.close()
    return 0


def tried(act: Callable[[], Answered], *, duty: str, which: object = "") -> Answered | None:
    """Whatever is wrong with one of many, with its trace in the log, and the others have their turn."""
    try:
        return act()
    # What the database refuses of one thing's rows says nothing about the others.
    except (IntegrityError, DataError):
        log.exception("duty.refused", extra={"duty": duty, "which": str(which)})
    except Error:
        raise
    # The rim: one thing that cannot be dealt with, named in the log.
    except Exception:
        log.exception("duty.failed", extra={"duty": duty, "which": str(which)})
    return None


class Rounds:
    """A duty that acts while the clock is steady (R31), and notes now and then that it goes round."""

    duty: str
    every: float
    longest: float

    def __init__(self) -> None:
        self.holder = holder()
        self._clock = SteadyClock(self.holder)
        self._last_tick = -TICK_EVERY

    def run(self, *, stopped: Callable[[], bool], must_end: MustEnd) -> None:
        """As a child of the watch."""
        go_on(
            self.go_round,
            every=self.every,
            longest=self.longest,
            stopped=stopped,
            must_end=must_end,
        )

    def go_round(self) -> int:
        """One pass; how much was done."""
        return through(self._pass, duty=self.duty)

    def act(self) -> int:
        """What is due now; how much that was."""
        raise NotImplementedError

    def tick(self) -> None:
        """What is done each time that it notes it goes round."""
        ticks.note(self.duty, holder=self.holder)

    def _pass(self) -> int:
        done = self.act() if self._clock.is_steady() else 0
        if time.monotonic() - self._last_tick >= TICK_EVERY:
            self.tick()
            self._last_tick = time.monotonic()
        return done
