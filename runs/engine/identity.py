"""Who this process is, and whether another one still lives."""

import os
import socket
from pathlib import Path
from typing import Literal

import psutil

from runs.rules.identity import ProcessIdentity

Life = Literal["alive", "stopped", "dead", "elsewhere"]


def of_this_process() -> ProcessIdentity:
    return ProcessIdentity(
        host=socket.gethostname(),
        boot_id=_boot_id(),
        pid_namespace=_pid_namespace(),
        pid=os.getpid(),
        started=psutil.Process().create_time(),
    )


def life_of(process: ProcessIdentity, *, seen_from: ProcessIdentity) -> Life:
    """A zombie is dead, a stopped one is not; another machine's processes cannot be seen (R22)."""
    if not process.on_the_machine_of(seen_from):
        return "elsewhere"
    try:
        found = psutil.Process(process.pid)
        if abs(found.create_time() - process.started) > 0.05:
            return "dead"
        status = found.status()
    except psutil.NoSuchProcess:
        return "dead"
    if status in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD):
        return "dead"
    return "stopped" if status == psutil.STATUS_STOPPED else "alive"


def _boot_id() -> str:
    path = Path("/proc/sys/kernel/random/boot_id")
    return path.read_text().strip() if path.exists() else str(psutil.boot_time())


def _pid_namespace() -> str:
    path = Path("/proc/self/ns/pid")
    return str(path.readlink()) if path.exists() else "-"
