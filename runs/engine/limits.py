"""A step's own time limit, which interrupts its author's code and never the engine's (R26)."""

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from runs.dispatch import pulse

# A body that swallows the interruption, or holds the interpreter, is ended from outside so much later.
ENDED_AFTER = 5.0


class TimeIsUp(BaseException):
    """The step has run longer than its declared timeout.

    A BaseException, so that an author's `except Exception` cannot swallow it.
    """


class StepLimit:
    """Raises TimeIsUp in the author's code; while the engine works it only remembers."""

    def __init__(self, seconds: float | None) -> None:
        self.seconds = seconds
        self._armed = False
        self._in_authors_code = False
        self._over = False

    @contextmanager
    def running(self) -> Iterator[None]:
        """Author code runs under the limit; the timer of whoever called us is set again after."""
        if self.seconds is None or threading.current_thread() is not threading.main_thread():
            yield
            return
        began = time.monotonic()
        pulse.must_end(within=self.seconds + ENDED_AFTER)
        before = signal.signal(signal.SIGALRM, self._ring)
        left, _ = signal.setitimer(signal.ITIMER_REAL, self.seconds)
        self._armed = self._in_authors_code = True
        try:
            yield
        finally:
            self._armed = self._in_authors_code = False
            signal.signal(signal.SIGALRM, before)
            rest = max(left - (time.monotonic() - began), 0.01) if left else 0.0
            signal.setitimer(signal.ITIMER_REAL, rest)
            pulse.must_end(within=None)

    @contextmanager
    def engine_at_work(self) -> Iterator[None]:
        """Inside, the limit is only noted; it is acted on when the author's code goes on.

        An exception that is on its way out says more than the limit would.
        """
        outer, self._in_authors_code = self._in_authors_code, False
        try:
            yield
        finally:
            self._in_authors_code = outer
        if outer:
            self._act()

    @contextmanager
    def authors_code(self) -> Iterator[None]:
        """Inside engine work, back in the author's code: a send, a probe, a judge, a page."""
        outer, self._in_authors_code = self._in_authors_code, self._armed
        try:
            self._act()
            yield
        finally:
            self._in_authors_code = outer

    def _act(self) -> None:
        if self._over and self._in_authors_code:
            raise TimeIsUp

    def _ring(self, _signal: int, _frame: FrameType | None) -> None:
        self._over = True
        self._act()
