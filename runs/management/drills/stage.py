"""Where a drill is played: its own receiver, clusters and watch, started again when they end."""

import json
import os
import secrets
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import psutil
from django.conf import settings

from runs.dispatch.tethered import die_with_parent
from runs.engine import drill_rehearsal, faults
from runs.ledger import drills
from runs.queries import drilling

MANAGE = Path(settings.BASE_DIR) / "manage.py"
MARK = "MILEPOST_DRILL_MARK"
UP_WITHIN, GONE_WITHIN = 60.0, 10.0
LOOK_EVERY = 0.02
PATIENCE = 0.4
# So short a lease is for stale leases: otherwise workers are found dead by their process.
LEASE, SHORT_LEASE = "15", "3"


class StageTrouble(Exception):
    """The drill cannot be played: a program of it did not come up, or would not stay."""


@dataclass(slots=True, kw_only=True)
class Program:
    """One of the drill's own processes, and how to start it again."""

    name: str
    arguments: tuple[str, ...]
    environment: dict[str, str]
    log: Path
    process: subprocess.Popen[bytes]
    wanted: bool = True
    restarts: int = 0

    @property
    def runs(self) -> bool:
        return self.process.poll() is None


@dataclass(slots=True, kw_only=True)
class Stage:
    """One installation of the drill's own. `environment` leads programs to its database."""

    folder: Path
    environment: Mapping[str, str]
    mark: str = field(default_factory=lambda: secrets.token_hex(16))
    programs: list[Program] = field(default_factory=list)
    receiver: str = ""

    @property
    def faults(self) -> Path:
        return self.folder / "faults"

    @property
    def observed(self) -> Path:
        return self.folder / "observed.jsonl"

    def set_up(self) -> None:
        """Mark the database, start the receiver, and write down where both are."""
        self.faults.mkdir(parents=True, exist_ok=True)
        drills.mark_scratch(self.mark)
        port = self.folder / "receiver.port"
        module = ("-m", "runs.engine.drill_receiver", str(port))
        self._start("receiver", module)
        eventually(port.exists, what="the receiver answers")
        self.receiver = f"http://127.0.0.1:{port.read_text()}"
        told = {
            "mark": self.mark,
            "receiver": self.receiver,
            "patience": PATIENCE,
            "observed": str(self.observed),
        }
        (self.folder / "drill.json").write_text(json.dumps(told), "utf-8")
        drill_rehearsal.misbehave(self.receiver, patience=PATIENCE)

    def start_cluster(self, *, workers: int, elsewhere: str = "", **more: str) -> Program:
        """A cluster whose workers are enlisted; `elsewhere` makes them pass for another machine's."""
        host = {drill_rehearsal.ELSEWHERE: elsewhere} if elsewhere else {}
        before = drilling.live_workers(host=elsewhere)
        arguments = (str(MANAGE), "cluster", "--workers", str(workers), "--grace", "5")
        program = self._start("cluster", arguments, **host, **more)
        eventually(
            lambda: drilling.live_workers(host=elsewhere) >= before + workers,
            what="the cluster's workers are there",
        )
        return program

    def start_watch(self) -> Program:
        return self._start("watch", (str(MANAGE), "watch"))

    def _start(self, name: str, arguments: tuple[str, ...], **more: str) -> Program:
        environment = {**self.environment, **self._marks(), **more}
        log = self.folder / f"{name}-{len(self.programs)}.log"
        process = _launched(arguments, environment, log)
        program = Program(
            name=name, arguments=arguments, environment=environment, log=log, process=process
        )
        self.programs.append(program)
        return program

    def _marks(self) -> dict[str, str]:
        return {
            MARK: self.mark,
            drill_rehearsal.TOLD: str(self.folder / "drill.json"),
            "FAULT_AT": f"@{self.faults}",
            "PYTHONDONTWRITEBYTECODE": "1",
            "LEASE_SECONDS": self.environment.get("LEASE_SECONDS", LEASE),
            # A rehearsal is nothing that the monitors of the real installation should hear of.
            "BEAT_SECONDS": "0",
        }

    def keep_up(self) -> int:
        """Start again what has ended, as a supervisor does; how many came back."""
        ended = [each for each in self.programs if each.wanted and not each.runs]
        for program in ended:
            program.restarts += 1
            if program.name == "receiver" or program.restarts > 200:
                raise StageTrouble(f"{program.name} will not stay: {_tail(program.log)}")
            program.process = _launched(program.arguments, program.environment, program.log)
        return len(ended)

    def arm(self, target: str, spec: str) -> None:
        """Strike this run (or `any`) when it comes to this point."""
        draft = self.faults / f".{target}"
        draft.write_text(spec)
        draft.replace(self.faults / target)

    def is_armed(self, target: str) -> bool:
        return (self.faults / target).exists()

    def disarm(self, target: str) -> None:
        (self.faults / target).unlink(missing_ok=True)

    def trace(self, *, on: bool) -> None:
        """Have every point that is reached written down, or no more."""
        if on:
            (self.faults / faults.TRACE).touch()
        else:
            (self.faults / faults.TRACE).unlink(missing_ok=True)

    def strikes(self) -> list[dict[str, Any]]:
        return lines_of(self.faults / faults.STRIKES)

    def reached(self) -> list[dict[str, Any]]:
        return lines_of(self.faults / faults.REACHED)

    def end(self) -> list[str]:
        """Stop everything in order, then name every process that is left over, and end it too (R27)."""
        for program in reversed(self.programs):
            program.wanted = False
            program.process.terminate()
        deadline = time.monotonic() + GONE_WITHIN
        for program in self.programs:
            try:
                program.process.wait(max(deadline - time.monotonic(), 0.1))
            except subprocess.TimeoutExpired:
                program.process.kill()
                program.process.wait()
        until = time.monotonic() + 3
        while self.left() and time.monotonic() < until:
            time.sleep(LOOK_EVERY)
        left = [(each, _named(each)) for each in self.left()]
        for process, _ in left:
            _kill(process)
        return [name for _, name in left]

    def left(self) -> list[psutil.Process]:
        """Every living process of this drill, in whatever group it is."""
        return [each for each in psutil.process_iter() if _bears(each, self.mark)]


@contextmanager
def played(stage: Stage) -> Iterator[Stage]:
    """The stage, set up; whatever happens, nothing of it runs afterwards."""
    try:
        stage.set_up()
        yield stage
    finally:
        stage.end()


def eventually(look: Callable[[], object], *, what: str, within: float = UP_WITHIN) -> None:
    deadline = time.monotonic() + within
    while not look():
        if time.monotonic() > deadline:
            raise StageTrouble(f"Not within {within:g} s: {what}.")
        time.sleep(LOOK_EVERY)


def lines_of(file: Path) -> list[dict[str, Any]]:
    """The whole lines of a file of JSON lines."""
    if not file.exists():
        return []
    return [json.loads(line) for line in file.read_bytes().split(b"\n")[:-1]]


def _launched(
    arguments: tuple[str, ...], environment: dict[str, str], log: Path
) -> subprocess.Popen[bytes]:
    out: IO[bytes]
    with log.open("ab") as out:
        return subprocess.Popen(  # noqa: S603 - our own programs
            [sys.executable, *arguments],
            env=environment,
            cwd=MANAGE.parent,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
            preexec_fn=die_with_parent(),
        )


def _bears(process: psutil.Process, mark: str) -> bool:
    try:
        alive = process.status() not in {psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD}
        own = process.pid == os.getpid()
        return alive and not own and process.environ().get(MARK) == mark
    except psutil.Error:
        return False


def _named(process: psutil.Process) -> str:
    try:
        return f"{process.pid} {' '.join(process.cmdline())[:120]}"
    except psutil.Error:
        return str(process.pid)


def _kill(process: psutil.Process) -> None:
    try:
        process.kill()
    except psutil.NoSuchProcess:
        return


def _tail(log: Path) -> str:
    return log.read_text("utf-8", "replace")[-2000:]
