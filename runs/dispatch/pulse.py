"""What main, sentinel and workers tell each other: shared memory that no death can leave locked."""

import ctypes
import mmap
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

from runs.dispatch.groups import Identity, alive


class Seat(ctypes.Structure):
    """One worker's place in the pool."""

    pid: int
    started: int
    busy_since: float
    until: float
    _fields_ = (
        ("pid", ctypes.c_int),
        ("started", ctypes.c_ulonglong),
        ("busy_since", ctypes.c_double),  # monotonic; 0 while idle
        ("until", ctypes.c_double),  # monotonic; the sentinel kills later than this; 0 for never
    )

    @property
    def worker(self) -> Identity:
        return Identity(pid=self.pid, started=self.started)

    @property
    def busy(self) -> bool:
        return self.busy_since > 0

    def sit(self, who: Identity) -> None:
        self.pid, self.started = who.pid, who.started

    def leave(self) -> None:
        self.pid, self.started, self.busy_since, self.until = 0, 0, 0.0, 0.0


class _Board(ctypes.Structure):
    stopping: bool
    beats: int
    answered: float
    _fields_ = (
        ("stopping", ctypes.c_bool),
        ("beats", ctypes.c_ulonglong),
        ("answered", ctypes.c_double),
    )


class Pulse:
    """The shared page, made by main before the first fork."""

    def __init__(self, *, workers: int) -> None:
        size = ctypes.sizeof(_Board) + workers * ctypes.sizeof(Seat)
        self._memory = mmap.mmap(-1, size)
        self.board = _Board.from_buffer(self._memory)
        self.seats = (Seat * workers).from_buffer(self._memory, ctypes.sizeof(_Board))

    def free_seat(self) -> Seat:
        """A seat that nobody has; there are as many as workers."""
        return next(seat for seat in self.seats if seat.pid == 0)

    def taken(self) -> Iterator[Seat]:
        return (seat for seat in self.seats if seat.pid != 0)

    def idle(self) -> int:
        """How many workers wait for a doorbell."""
        return sum(1 for seat in self.taken() if not seat.busy)

    def busy(self) -> int:
        """How many workers that live are at work."""
        return sum(1 for seat in self.taken() if seat.busy and alive(seat.worker))

    def take(self, seat: Seat) -> None:
        """Remember, in a worker, which seat is its own."""
        global _own
        _own = (self, seat)

    def rush(self, *, seconds: float) -> None:
        """Wait until no worker is busy, at most so long."""
        deadline = time.monotonic() + seconds
        while self.busy() and time.monotonic() < deadline:
            time.sleep(0.02)


_own: tuple[Pulse, Seat] | None = None


@contextmanager
def at_work() -> Iterator[None]:
    """Mark this worker as busy: it has answered a doorbell."""
    if _own is None:  # outside a cluster nobody looks
        yield
        return
    pulse, seat = _own
    seat.busy_since = pulse.board.answered = time.monotonic()
    try:
        yield
    finally:
        seat.busy_since = seat.until = 0.0


def must_end(*, within: float | None) -> None:
    """Have the sentinel kill this worker's group unless this is called again in time; None lifts it."""
    if _own is not None and _own[1].pid == os.getpid():
        _own[1].until = 0.0 if within is None else time.monotonic() + within
