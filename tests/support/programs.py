"""Real programs of Milepost for tests: started, watched, killed, and never left behind."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
import uuid
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
from django.conf import settings

from config.environment import ROOT
from runs.dispatch.tethered import die_with_parent
from tests.support.waiting import PATIENCE, eventually, free_port

MARK = "MILEPOST_TEST_SITE"
# How many workers a cluster has where a test does not say it: whatever is asserted holds with one too.
CLUSTER_WORKERS = int(os.environ.get("CLUSTER_WORKERS", "2"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a command said before it ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """One started program; it leads a process group of its own."""

    name: str
    process: subprocess.Popen[bytes]
    log: Path
    port: int = 0
    told: list[signal.Signals] = field(default_factory=list)

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def said(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")

    def says(self, text: str, *, within: float = PATIENCE) -> str:
        def heard() -> str:
            said = self.said()
            if text not in said and self.process.poll() is not None:
                raise AssertionError(f"{self.name} ended ({self.process.returncode}):\n{said}")
            return said if text in said else ""

        return eventually(heard, within=within, what=f"{self.name} says {text!r}")

    def send(self, what: signal.Signals) -> None:
        self.told.append(what)
        self.process.send_signal(what)

    def kill(self) -> None:
        """SIGKILL to this process alone, as an out-of-memory killer does."""
        self.process.kill()
        self.process.wait()

    def stop(self, *, within: float = PATIENCE) -> int:
        """SIGTERM, as a supervisor does; the exit code."""
        self.send(signal.SIGTERM)
        return self.ended(within=within)

    def ended(self, *, within: float = PATIENCE) -> int:
        try:
            return self.process.wait(timeout=within)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"{self.name} still runs:\n{self.said()[-4000:]}") from None

    def family(self) -> list[psutil.Process]:
        """The processes below this one, youngest last."""
        try:
            return list(psutil.Process(self.pid).children(recursive=True))
        except psutil.NoSuchProcess:
            return []


@dataclass(slots=True, kw_only=True)
class Site:
    """One installation: a `var`, a database, and the programs started on them."""

    var: Path
    database_url: str
    settings: dict[str, str] = field(default_factory=dict)
    mark: str = field(default_factory=lambda: uuid.uuid4().hex)
    programs: list[Program] = field(default_factory=list)

    def environment(self) -> dict[str, str]:
        kept = {
            name: os.environ[name]
            for name in ("PATH", "HOME", "LANG", "TMPDIR")
            if name in os.environ
        }
        return {
            **kept,
            MARK: self.mark,
            # Compiled once a session, and nothing is left beside the sources.
            "PYTHONPYCACHEPREFIX": str(Path(settings.STATIC_ROOT).with_name("pycache")),
            "PYTHONUNBUFFERED": "1",
            "VAR_DIR": str(self.var),
            "DATABASE_URL": self.database_url,
            "WORKERS": str(CLUSTER_WORKERS),
            "SECRET_KEY": os.environ["SECRET_KEY"],
            **self.settings,
        }

    def manage(self, *arguments: str, timeout: float = 110, stdin: str = "") -> Answer:
        """Runs `manage.py ARGUMENTS` to its end."""
        done = subprocess.run(
            [sys.executable, str(ROOT / "manage.py"), *arguments],
            env=self.environment(),
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=timeout,
            input=stdin,
            check=False,
        )
        return Answer(code=done.returncode, out=done.stdout, err=done.stderr)

    def start(self, *arguments: str, port: int = 0, **settings: str) -> Program:
        """Starts `manage.py ARGUMENTS` and returns at once."""
        return self.launch(
            sys.executable, str(ROOT / "manage.py"), *arguments, port=port, **settings
        )

    def start_web(self) -> Program:
        """The pages behind gunicorn, answering, with the static files that the session collected."""
        self.var.mkdir(parents=True, exist_ok=True)
        if not (self.var / "static").exists():
            (self.var / "static").symlink_to(settings.STATIC_ROOT)
        port = free_port()
        program = self.launch(
            sys.executable,
            "-m",
            "gunicorn",
            "config.wsgi",
            "--config",
            "python:config.gunicorn",
            "--bind",
            f"127.0.0.1:{port}",
            "--workers",
            "1",
            "--threads",
            "4",
            "--no-control-socket",
            port=port,
        )
        eventually(lambda: answers(program), what="the web process answers")
        return program

    def launch(self, *command: str, port: int = 0, **settings: str) -> Program:
        self.var.mkdir(parents=True, exist_ok=True)
        name = " ".join(Path(part).name for part in command[1:4])
        log = self.var / f"{len(self.programs):02d}-{Path(command[-1]).name[:40]}.log"
        with log.open("wb") as out:
            process = subprocess.Popen(
                command,
                env={**self.environment(), **settings},
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                start_new_session=True,
                preexec_fn=die_with_parent(),
            )
        program = Program(name=name, process=process, log=log, port=port)
        self.programs.append(program)
        return program

    def processes(self) -> list[psutil.Process]:
        """Every living process that was started for this site, by whatever way and in whatever group."""
        return [process for process in psutil.process_iter() if _bears(process, self.mark)]

    def leaves_nothing(self, *, within: float = PATIENCE) -> None:
        try:
            eventually(lambda: not self.processes(), within=within, what="no process is left over")
        except AssertionError as late:
            left = "\n".join(map(_described, self.processes()))
            raise AssertionError(f"{late}\nleft over:\n{left}") from None

    def end(self) -> None:
        """Kills all of it, groups and strays, and waits until they are gone."""
        deadline = time.monotonic() + PATIENCE
        while (left := self.processes()) and time.monotonic() < deadline:
            for process in left:
                _kill(process)
            time.sleep(0.01)
        for program in self.programs:
            program.process.wait()


def answers(program: Program, path: str = "/healthz") -> bool:
    assert program.process.poll() is None, f"{program.name} ended:\n{program.said()}"
    try:
        with urllib.request.urlopen(program.url + path, timeout=5) as answer:
            return bool(answer.status == 200)
    except urllib.error.HTTPError:
        return False
    except OSError:
        return False


def _bears(process: psutil.Process, mark: str) -> bool:
    try:
        alive = process.status() not in {psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD}
        return alive and process.environ().get(MARK) == mark
    except psutil.Error:
        return False


def _described(process: psutil.Process) -> str:
    with process.oneshot(), suppress(psutil.Error):
        command = " ".join(process.cmdline())
        return f"{process.pid} of {process.ppid()}, {process.status()}: {command}"
    return f"{process.pid}, gone meanwhile"


def _kill(process: psutil.Process) -> None:
    try:
        process.kill()
    except psutil.NoSuchProcess:
        return
