"""Waiting for something to become true, with a deadline instead of a hopeful sleep."""

import socket
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


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
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def is_open(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0
