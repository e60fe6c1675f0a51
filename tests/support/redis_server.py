"""A real Redis for tests, started for this session and forgotten after it."""

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from runs.dispatch.tethered import die_with_parent
from tests.support.absent import absent
from tests.support.waiting import eventually, free_port, is_open


@dataclass(frozen=True, slots=True, kw_only=True)
class RedisServer:
    """Where it listens."""

    port: int
    process: subprocess.Popen[bytes]

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"


@contextmanager
def redis() -> Iterator[RedisServer]:
    program = shutil.which("redis-server")
    if program is None:
        raise absent("redis", because="there is no redis-server on this machine")
    directory = Path(tempfile.mkdtemp(prefix="milepost-redis-"))
    port = free_port()
    process = subprocess.Popen(
        [
            program,
            "--bind",
            "127.0.0.1",
            "--port",
            str(port),
            "--dir",
            str(directory),
            "--save",
            "",
            "--appendonly",
            "no",
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=die_with_parent(),
        start_new_session=True,
    )
    try:
        eventually(lambda: is_open(port), what="Redis answers")
        yield RedisServer(port=port, process=process)
    finally:
        process.kill()
        process.wait()
        shutil.rmtree(directory, ignore_errors=True)
