"""Who serves this `var`, and where: one `up` at a time, its address known to the others."""

import fcntl
import json
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from django.conf import settings

PORTS_TRIED = 100
EVERYWHERE = {"0.0.0.0", "::", "[::]"}  # noqa: S104


class AlreadyServed(Exception):
    """Another `up` runs on this `var`; `site` is where, empty while it still starts."""

    def __init__(self, site: str) -> None:
        super().__init__(site)
        self.site = site


class NoFreePort(Exception):
    """None of the ports tried can be bound; name another PORT, or another HOST."""


@contextmanager
def claimed(var: Path) -> Iterator[IO[str]]:
    """Holds `var/up.lock` for as long as this process lives; the kernel frees it, however it dies."""
    var.mkdir(parents=True, exist_ok=True)
    lock = (var / "up.lock").open("a+", encoding="utf-8")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise AlreadyServed(_site_in(lock)) from None
    try:
        announce(lock, site="")
        yield lock
    finally:
        announce(lock, site="")
        lock.close()


def announce(lock: IO[str], *, site: str) -> None:
    lock.seek(0)
    lock.truncate()
    json.dump({"pid": os.getpid(), "site": site}, lock)
    lock.flush()


def running_site(var: Path, *, patience: float = 0) -> str:
    """Where the `up` of this `var` answers; empty if none does within `patience` seconds."""
    deadline = time.monotonic() + patience
    while not (site := _announced(var)) and time.monotonic() < deadline:
        time.sleep(0.1)
    return site


def site_here() -> str:
    """Where the pages of this installation answer, or will once they are started."""
    return running_site(settings.VAR_DIR) or site_of(settings.HOST, settings.PORT)


def free_port(host: str, wanted: int) -> int:
    """The wanted port, or else the next free one."""
    for port in range(wanted, min(wanted + PORTS_TRIED, 65_536)):
        if _can_bind(host, port):
            return port
    raise NoFreePort(f"No port from {wanted} to {port} can be bound on {host}.")


def bind_to(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def site_of(host: str, port: int) -> str:
    return "http://" + bind_to("127.0.0.1" if host in EVERYWHERE else host, port)


def _announced(var: Path) -> str:
    try:
        with (var / "up.lock").open(encoding="utf-8") as lock:
            # A lock that can be had is held by nobody: what it says is left from a killed `up`.
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return ""
    except BlockingIOError:
        return _site_in((var / "up.lock").open(encoding="utf-8"))
    return ""


def _site_in(lock: IO[str]) -> str:
    with lock:
        lock.seek(0)
        try:
            return str(json.load(lock)["site"])
        except (ValueError, KeyError):
            return ""


def _can_bind(host: str, port: int) -> bool:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True
