"""The outer half of a drill: makes a scratch database of the same kind and plays the drill on it."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from django.db import connection

from runs.dispatch.tethered import die_with_parent
from runs.management.drills.asked import Asked
from runs.management.drills.conduct import RESTART, aborted
from runs.management.scratch import MANAGE, Scratch, scratch_postgresql, scratch_sqlite
from runs.management.scratch_postgresql import PostgresServer, restarted
from runs.rules.drill_report import DrillReport

LOOK_EVERY = 0.05
SAY_EVERY = 2.0


def drill_on_scratch(
    asked: Asked, *, postgresql_url: str = "", stopped_by: Callable[[], str]
) -> DrillReport:
    """The report of a drill on a database that is made for it and taken away again.

    A drill that ends without one is aborted, with what it said last; so is one for which
    `stopped_by`, asked every few seconds, names somebody.
    """
    began = datetime.now(UTC)
    with _scratch(postgresql_url) as scratch:
        process = _inner(asked, scratch)
        try:
            who = _watched(process, scratch, stopped_by)
        finally:
            process.kill()
            process.wait()
        if who:
            return aborted(asked, began, because=f"{who} stopped it.")
        return _report_in(scratch.folder) or aborted(
            asked, began, because=_last_words(scratch.folder, process.returncode)
        )


def _watched(
    process: "subprocess.Popen[bytes]", scratch: Scratch, stopped_by: Callable[[], str]
) -> str:
    """Until it ends, or somebody stops it: who that is."""
    say_next = 0.0
    while process.poll() is None:
        _restart_if_wished(scratch.folder, scratch.server)
        if time.monotonic() >= say_next:
            say_next = time.monotonic() + SAY_EVERY
            if who := stopped_by():
                return who
        time.sleep(LOOK_EVERY)
    return ""


@contextmanager
def _scratch(postgresql_url: str) -> Iterator[Scratch]:
    kind = scratch_sqlite() if connection.vendor == "sqlite" else None
    with kind or scratch_postgresql(url=postgresql_url) as scratch:
        yield scratch


def _inner(asked: Asked, scratch: Scratch) -> "subprocess.Popen[bytes]":
    (scratch.folder / "asked.json").write_text(asked.to_text(), "utf-8")
    with (scratch.folder / "drill.log").open("wb") as log:
        return subprocess.Popen(  # noqa: S603 - our own manage.py
            [sys.executable, str(MANAGE), "drill", "--on-this-database"],
            env={**scratch.environment, "EMAIL_URL": ""},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            preexec_fn=die_with_parent(),
        )


def own_environment() -> dict[str, str]:
    """What programs of the inner half are started with: that of the inner half itself."""
    return dict(os.environ)


def _restart_if_wished(folder: Path, server: PostgresServer | None) -> None:
    wish = folder / RESTART
    if wish.exists():
        if server is not None:
            restarted(server)
        wish.unlink()


def _report_in(folder: Path) -> DrillReport | None:
    file = folder / "report.json"
    return DrillReport.from_text(file.read_text("utf-8")) if file.exists() else None


def _last_words(folder: Path, code: int) -> str:
    lines = (folder / "drill.log").read_text("utf-8", "replace").strip().splitlines()
    said = lines[-1][:500] if lines else "nothing"
    return f"it ended with {code} and no report; it said last: {said}"
