"""The time limits of a step, its calls and its run, which interrupt author's code and never the engine's (R26)."""

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from runs.definition.effects import Effect
from runs.dispatch import pulse
from runs.rules.calls import CallRecord
from runs.rules.limits import Breach, Cause, Limit, length

# A body that swallows the interruption, or holds the interpreter, is ended from outside so much later.
ENDED_AFTER = 5.0
# A send is told its timeout; one that does not keep to it is interrupted so much later.
CALL_GRACE = 1.0

Ring = Callable[[int, FrameType | None], None]


class TimeIsUp(BaseException):
    """The step has run longer than its declared timeout.

    A BaseException, so that an author's `except Exception` cannot swallow it.
    """

    def __init__(self, *, elapsed: float, allowed: float) -> None:
        super().__init__(f"It ran for {length(elapsed)}; its timeout is {length(allowed)}.")
        self.elapsed, self.allowed = elapsed, allowed

    def breach(self, step: str) -> Breach:
        return Breach(
            limit=Limit.STEP,
            trigger=f"step {step}",
            elapsed=self.elapsed,
            allowed=self.allowed,
            cause=Cause.DESIGN,
        )


class DeadlineOver(TimeIsUp):
    """The run has used up its deadline while this step was running."""


class CallOverdue(BaseException):
    """A send took longer than the timeout it was given, so nobody knows whether it happened."""


def breach_of_call(
    effect: Effect, record: CallRecord, error: BaseException, *, took: float
) -> Breach | None:
    """That a call whose result is unknown was given up for its timeout, if it was."""
    allowed = effect.timeout.total_seconds()
    if not isinstance(error, CallOverdue | TimeoutError) and took < allowed:
        return None
    return Breach(
        limit=Limit.CALL,
        trigger=f"call {effect.name} for {record.resource}",
        elapsed=took,
        allowed=allowed,
        cause=Cause.DEPENDENCY,
    )


class StepLimit:
    """Raises TimeIsUp in the author's code; while the engine works it only remembers.

    `ends_at` is when the run's deadline is over, by the monotonic clock.
    """

    def __init__(self, timeout: float | None, *, ends_at: float | None = None) -> None:
        self.timeout, self.ends_at = timeout, ends_at
        self._began = 0.0
        self._until: float | None = None
        self._armed = False
        self._in_authors_code = False
        self._over = False

    @contextmanager
    def running(self) -> Iterator[None]:
        """Author code runs under the limit; the timer of whoever called us is set again after."""
        self._began = time.monotonic()
        ends = [self.ends_at] if self.ends_at is not None else []
        ends += [self._began + self.timeout] if self.timeout is not None else []
        if not ends or not _in_main_thread():
            yield
            return
        self._until = min(ends)
        if self._until <= self._began:
            raise DeadlineOver(elapsed=0.0, allowed=0.0)
        self._have_it_ended()
        with _alarm(self._until - self._began, self._ring):
            self._armed = self._in_authors_code = True
            try:
                yield
            finally:
                self._armed = self._in_authors_code = False
                self._until = None
                self._have_it_ended()

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

    @contextmanager
    def sending(self, timeout: float) -> Iterator[None]:
        """A send: the author's code too, and under a limit of its own, whichever is over first."""
        with self.authors_code():
            if not _in_main_thread():
                yield
                return
            began = time.monotonic()
            ends = began + timeout + CALL_GRACE
            self._have_it_ended(besides=ends)
            try:
                with _alarm(min(ends, self._until or ends) - began, self._ring_in_call):
                    yield
            finally:
                self._have_it_ended()

    def _ring(self, _signal: int, _frame: FrameType | None) -> None:
        self._over = True
        self._act()

    def _ring_in_call(self, number: int, frame: FrameType | None) -> None:
        if self._until is not None and time.monotonic() >= self._until:
            self._ring(number, frame)
            return
        raise CallOverdue("It did not return within its timeout.")

    def _act(self) -> None:
        if not (self._over and self._in_authors_code):
            return
        now = time.monotonic()
        if self.ends_at is not None and now >= self.ends_at:
            raise DeadlineOver(elapsed=now - self._began, allowed=self.ends_at - self._began)
        raise TimeIsUp(elapsed=now - self._began, allowed=self.timeout or 0.0)

    def _have_it_ended(self, *, besides: float | None = None) -> None:
        """Whoever watches this process from outside kills it soon after the nearest end (R26)."""
        ends = [end for end in (self._until, besides) if end is not None]
        within = max(min(ends) - time.monotonic(), 0.0) + ENDED_AFTER if ends else None
        pulse.must_end(within=within)


@contextmanager
def _alarm(seconds: float, ring: Ring) -> Iterator[None]:
    began = time.monotonic()
    before = signal.signal(signal.SIGALRM, ring)
    left, _ = signal.setitimer(signal.ITIMER_REAL, max(seconds, 0.001))
    try:
        yield
    finally:
        signal.signal(signal.SIGALRM, before)
        rest = max(left - (time.monotonic() - began), 0.01) if left else 0.0
        signal.setitimer(signal.ITIMER_REAL, rest)


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()
