"""Databases that a benchmark or a drill makes for itself and takes away again."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from django.conf import settings

from runs.dispatch.tethered import die_with_parent
from runs.management.scratch_postgresql import PostgresServer, own_server, server_at

MANAGE = Path(settings.BASE_DIR) / "manage.py"
WITH_NOTICE = ("log_min_messages=fatal",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scratch:
    """A folder and a database of its own, and the environment that leads a program to both."""

    folder: Path
    url: str
    server: PostgresServer | None = None

    @property
    def environment(self) -> dict[str, str]:
        return {
            **os.environ,
            "VAR_DIR": str(self.folder),
            "DATABASE_URL": self.url,
            "REDIS_URL": "",
            "LOG_LEVEL": "WARNING",
            # Nothing that the monitors of the real installation, or those outside, should hear of.
            "BEAT_SECONDS": "0",
            "WATCHDOG_URL": "",
        }

    def manage(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run one of this project's commands on the scratch database."""
        return subprocess.run(  # noqa: S603 - our own manage.py
            [sys.executable, str(MANAGE), *arguments],
            env=self.environment,
            text=True,
            stdout=subprocess.PIPE,
            check=False,
            preexec_fn=die_with_parent(),
        )


@contextmanager
def scratch_sqlite() -> Iterator[Scratch]:
    """A SQLite file in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="milepost-scratch-") as name:
        folder = Path(name)
        yield Scratch(folder=folder, url=f"sqlite:///{folder / 'scratch.sqlite3'}")


@contextmanager
def scratch_postgresql(*, url: str = "") -> Iterator[Scratch]:
    """A new database on the server at `url`, or on one that is started for it.

    Raises NoPostgreSQL where none can be started.
    """
    with tempfile.TemporaryDirectory(prefix="milepost-scratch-") as name:
        if url:
            yield from _database_on(server_at(url), Path(name))
            return
        with own_server(WITH_NOTICE) as server:
            yield from _database_on(server, Path(name))


def _database_on(server: PostgresServer, folder: Path) -> Iterator[Scratch]:
    database = f"milepost_scratch_{uuid4().hex}"
    server.run(f"CREATE DATABASE {database}")
    try:
        yield Scratch(folder=folder, url=server.url(database), server=server)
    finally:
        server.run(f"DROP DATABASE {database} WITH (FORCE)")
