"""The process manager of `up`: supervisord, told what to run and to restart it for ever."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from shlex import join
from typing import NoReturn
from urllib.parse import urlsplit

from config.environment import ROOT
from runs.dispatch.tethered import die_with_parent

LONGEST_START = 60
LONGEST_STOP = 35
HEAD = """\
[supervisord]
nodaemon=true
silent=true
directory={root}
logfile={logs}/supervisord.log
logfile_maxbytes=5MB
logfile_backups=2
pidfile={var}/supervisord.pid
childlogdir={logs}
{user}
[group:milepost]
programs={names}
"""
# Stopping: the main process alone is asked (it knows how to end its children), its whole group is
# killed if it does not. Starting again: always, waiting one second longer after each failed start.
PROGRAM = """
[program:{name}]
command={command}
directory={root}
autorestart=true
startsecs=1
startretries=1000000
stopsignal=TERM
stopasgroup=false
killasgroup=true
stopwaitsecs={patience}
redirect_stderr=true
stdout_logfile={logs}/{name}.log
stdout_logfile_maxbytes=10MB
stdout_logfile_backups=3
"""


class WebIsSilent(Exception):
    """The pages did not answer in time; the message names the log that says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """What runs, and how many seconds it gets to stop by itself."""

    name: str
    command: tuple[str, ...]
    patience: int


def programs(*, bind: str, workers: int) -> tuple[Program, ...]:
    manage = (sys.executable, str(ROOT / "manage.py"))
    gunicorn = (sys.executable, "-m", "gunicorn", "config.wsgi", "--bind", bind)
    tied = ("--config", "python:config.gunicorn")
    threads = ("--worker-class", "gthread", "--workers", "2", "--threads", "4")
    limits = ("--graceful-timeout", "3", "--timeout", "60", "--no-control-socket")
    return (
        Program(name="web", command=(*gunicorn, *tied, *threads, *limits), patience=5),
        Program(
            name="cluster", command=(*manage, "cluster", "--workers", str(workers)), patience=20
        ),
        Program(name="watch", command=(*manage, "watch"), patience=10),
    )


class Manager:
    """A running supervisord; started again should it ever end by itself."""

    def __init__(self, configuration: Path) -> None:
        self._configuration = configuration
        self._process = self._started()

    def keep_alive(self) -> NoReturn:
        while True:
            self._process.wait()
            time.sleep(1)
            self._process = self._started()

    def stop(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(timeout=LONGEST_STOP)
        except subprocess.TimeoutExpired:
            # Its children are tied to it, so they end with it.
            self._process.kill()
            self._process.wait()

    def _started(self) -> subprocess.Popen[bytes]:
        # A session of its own: Ctrl-C in the terminal reaches `up` alone, which stops things in order.
        return subprocess.Popen(  # noqa: S603
            [
                sys.executable,
                "-m",
                "supervisor.supervisord",
                "--configuration",
                self._configuration,
            ],
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=die_with_parent(),
        )


@contextmanager
def supervised(*, var: Path, run: tuple[Program, ...]) -> Iterator[Manager]:
    path = var / "supervisord.conf"
    path.write_text(configuration(var=var, run=run, as_root=os.geteuid() == 0), encoding="utf-8")
    manager = Manager(path)
    try:
        yield manager
    finally:
        manager.stop()


def wait_for_web(site: str, log: Path) -> None:
    deadline = time.monotonic() + LONGEST_START
    while not _answers(site):
        if time.monotonic() > deadline:
            raise WebIsSilent(f"{site} did not answer in {LONGEST_START} s; {log} says why.")
        time.sleep(0.05)


def configuration(*, var: Path, run: tuple[Program, ...], as_root: bool) -> str:
    logs = var / "log"
    head = HEAD.format(
        root=_escaped(ROOT),
        logs=_escaped(logs),
        var=_escaped(var),
        user="user=root\n" if as_root else "",
        names=",".join(program.name for program in run),
    )
    return head + "".join(_section(program, logs) for program in run)


def _answers(site: str) -> bool:
    where = urlsplit(site)
    connection = HTTPConnection(str(where.hostname), where.port, timeout=5)
    try:
        connection.request("GET", "/healthz", headers={"Host": f"localhost:{where.port}"})
        return connection.getresponse().status == HTTPStatus.OK
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()


def _section(program: Program, logs: Path) -> str:
    tied = (sys.executable, "-m", "runs.dispatch.tethered", *program.command)
    return PROGRAM.format(
        name=program.name,
        command=_escaped(join(tied)),
        root=_escaped(ROOT),
        logs=_escaped(logs),
        patience=program.patience,
    )


def _escaped(value: object) -> str:
    """supervisord expands %(name)s in every value."""
    return str(value).replace("%", "%%")
