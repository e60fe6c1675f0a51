"""Waiting for something to become true, with a deadline instead of a hopeful sleep."""

import random
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")
# Not the generator that is seeded before each test: it would give every test the same ports.
ANY = random.SystemRandom()


def eventually(
    look: Callable[[], T], *, within: float = 20.0, what: str = "", every: float = 0.02
) -> T:
    """The first truthy answer of `look`; after `within` seconds the test fails saying `what`."""
    deadline = time.monotonic() + within
    while not (seen := look()):
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {within:g} s: {what or look}; last seen: {seen!r}")
        time.sleep(every)
    return seen


def free_port() -> int:
    """Below those that the kernel gives to whoever connects: nobody takes it until it is used."""
    while True:
        port = ANY.randrange(15_000, 32_000)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def is_open(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0
