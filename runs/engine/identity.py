"""Who this process is, and whether another one still lives."""

import os
import socket
from pathlib import Path
from typing import Literal

import psutil

from runs.dispatch import groups
from runs.rules.identity import ProcessIdentity

Life = Literal["alive", "stopped", "dead", "elsewhere"]

_host = ""


def seem_to_be_at(host: str) -> None:
    """In a rehearsal, have this process pass for one of another machine."""
    global _host
    _host = host


def of_this_process() -> ProcessIdentity:
    return of_process(os.getpid())


def of_process(pid: int) -> ProcessIdentity:
    """Who a process of this machine is."""
    return ProcessIdentity(
        host=_host or socket.gethostname(),
        boot_id=_boot_id(),
        pid_namespace=_pid_namespace(),
        pid=pid,
        started=_started(pid) or 0.0,
    )


def life_of(process: ProcessIdentity, *, seen_from: ProcessIdentity) -> Life:
    """A zombie is dead, a stopped one is not; processes of another machine or user cannot be seen (R22)."""
    if not process.on_the_machine_of(seen_from) or _is_anothers(process.pid):
        return "elsewhere"
    if _started(process.pid) != process.started:
        return "dead"
    try:
        status = psutil.Process(process.pid).status()
    except psutil.NoSuchProcess:
        return "dead"
    return "stopped" if status == psutil.STATUS_STOPPED else "alive"


def _started(pid: int) -> float | None:
    """Clock ticks since the machine started: a moved wall clock does not change them."""
    found = groups.identity_of(pid)
    return None if found is None else float(found.started)


def _is_anothers(pid: int) -> bool:
    """A process that may not be signalled cannot be ended either, so only its lease counts."""
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except OSError:
        return False
    return False


def _boot_id() -> str:
    path = Path("/proc/sys/kernel/random/boot_id")
    return path.read_text().strip() if path.exists() else str(psutil.boot_time())


def _pid_namespace() -> str:
    path = Path("/proc/self/ns/pid")
    return str(path.readlink()) if path.exists() else "-"
