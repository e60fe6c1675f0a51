"""Pings a second over HTTP, beside a bare view on the same server, in turns under the same load."""

import os
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from django.conf import settings

from monitors.ledger import monitors
from monitors.management.benchmarks import bare
from monitors.queries.pings import counted
from monitors.rules.monitors import MonitorWish
from runs.dispatch.tethered import die_with_parent
from runs.rules.policy import local_operator

MONITORS, SENDERS, ROUNDS = 40, 8, 5
PATIENCE = 60.0
SERVER = ("--worker-class", "gthread", "--workers", "2", "--threads", "4")
QUIET = ("--no-control-socket", "--log-level", "warning")


def measure(*, runs: int, scratch: Path) -> dict[str, Any]:
    """Medians over the rounds; `runs` is how many pings each of the two is sent in all."""
    wish = MonitorWish(name="bench", period=60.0, grace=60.0)
    watched = [monitors.create(local_operator("bench"), wish) for _ in range(MONITORS)]
    bare.prepare([monitor.code for monitor in watched])
    ours = [f"/ping/{monitor.code}" for monitor in watched]
    theirs = [f"/ping/{pk}" for pk in range(1, MONITORS + 1)]
    each = max(runs // ROUNDS, SENDERS)
    Path(settings.STATIC_ROOT).mkdir(exist_ok=True)
    with (
        _server("config.wsgi", scratch / "ours.sock") as site,
        _server(f"{bare.__name__}:application", scratch / "bare.sock", MILEPOST_BARE="1") as floor,
    ):
        _rate(site, ours, MONITORS * 2)
        _rate(floor, theirs, MONITORS * 2)
        rounds = [(_rate(site, ours, each), _rate(floor, theirs, each)) for _ in range(ROUNDS)]
    sent = MONITORS * 2 + each * ROUNDS
    came, _ = counted([monitor.pk for monitor in watched])
    if came != sent:
        raise RuntimeError(f"{sent} pings were sent and answered with OK; {came} are counted.")
    return {
        "pings_per_second": round(statistics.median(ours for ours, _ in rounds), 1),
        "bare_view_per_second": round(statistics.median(floor for _, floor in rounds), 1),
        "ratio": round(statistics.median(ours / floor for ours, floor in rounds), 3),
    }


@contextmanager
def _server(application: str, place: Path, **environment: str) -> Iterator[Path]:
    """Gunicorn as `up` starts it, at a socket in the scratch folder."""
    command = [sys.executable, "-m", "gunicorn", application, "--bind", f"unix:{place}"]
    process = subprocess.Popen(  # noqa: S603 - our own server
        [*command, *SERVER, *QUIET],
        cwd=settings.BASE_DIR,
        env={**os.environ, **environment},
        preexec_fn=die_with_parent(),
    )
    try:
        until = time.monotonic() + PATIENCE
        while not _listens(place):
            if process.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"gunicorn did not start {application}.")
            time.sleep(0.05)
        yield place
    finally:
        process.terminate()
        process.wait(timeout=PATIENCE)


def _listens(place: Path) -> bool:
    """A socket is there before it takes anybody."""
    with socket.socket(socket.AF_UNIX) as line:
        return line.connect_ex(str(place)) == 0


def _rate(place: Path, paths: Sequence[str], count: int) -> float:
    """Requests a second with so many senders at once, each on a connection of its own."""
    began = time.perf_counter()
    with ThreadPoolExecutor(SENDERS) as senders:
        for answer in senders.map(lambda path: _get(place, path), islice(cycle(paths), count)):
            if not answer.startswith(b"HTTP/1.1 200 "):
                raise RuntimeError(f"Not OK: {answer[:200]!r}")
    return count / (time.perf_counter() - began)


def _get(place: Path, path: str) -> bytes:
    with socket.socket(socket.AF_UNIX) as line:
        line.settimeout(PATIENCE)
        line.connect(str(place))
        line.sendall(
            f"GET {path} HTTP/1.1\r\nHost: localhost\r\nUser-Agent: bench\r\n"
            "Connection: close\r\n\r\n".encode()
        )
        answer = b""
        while chunk := line.recv(4096):
            answer += chunk
    return answer
