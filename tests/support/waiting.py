"""Waiting for something to become true, with a deadline instead of a hopeful sleep."""

import fcntl
import os
import random
import socket
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")
# Both legs of the suite wait on the same two processors: nothing is late before this.
PATIENCE = 60.0
# Not the generator that is seeded before each test: it would give every test the same ports.
ANY = random.SystemRandom()


def eventually(
    look: Callable[[], T], *, within: float = PATIENCE, what: str = "", every: float = 0.02
) -> T:
    """The first truthy answer of `look`; after `within` seconds the test fails saying `what`."""
    deadline = time.monotonic() + within
    while not (seen := look()):
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {within:g} s: {what or look}; last seen: {seen!r}")
        time.sleep(every)
    return seen


def goal(seconds: float) -> float:
    """How soon something has to be, asked only by `make test-long`, on a machine that does nothing else."""
    return seconds if "MILEPOST_LONG" in os.environ else float("inf")


def free_port() -> int:
    """Below those that the kernel gives to whoever connects: nobody takes it until it is used.

    Nor does the other leg of the suite: it is this process's own until it ends.
    """
    while True:
        port = ANY.randrange(15_000, 32_000)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            if _is_ours(port):
                return port


def _is_ours(port: int) -> bool:
    folder = Path(tempfile.gettempdir()) / f"milepost-ports-{os.geteuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    held = os.open(folder / str(port), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(held)
        return False
    # Never closed: the lock ends with this process.
    return True


def is_open(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0
