"""Watches what steps really do while they are rehearsed: sockets, processes, files (an audit hook).

What the engine does for a step (artifacts, rows, rehearsed calls) is the engine's and is not noted;
neither is what the body of an open `with` of the standard library does on the engine's side.
"""

import json
import os
import sys
import threading
from pathlib import Path
from types import FrameType
from typing import Any

from runs.engine import faults

HERE = Path(__file__).resolve()
RUNS = HERE.parent.parent
PROJECT = RUNS.parent
# What authors write stands beside the engine only here.
AUTHORS = (str(RUNS / "examples") + os.sep, str(PROJECT / "tests") + os.sep)
ENGINE = tuple(str(PROJECT / app) + os.sep for app in ("runs", "approvals", "monitors", "config"))
NOT_AUTHORS = (os.path.dirname(os.__file__) + os.sep, "<frozen", "<string>")  # noqa: PTH120
BODY = ("_enter", str(RUNS / "engine" / "executor.py"))
WRITES = os.O_WRONLY | os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_TRUNC
DEEPEST = 200

SAID = {
    "socket.connect": "opened a socket",
    "socket.sendto": "opened a socket",
    "subprocess.Popen": "started a process",
    "os.system": "started a process",
    "os.exec": "started a process",
    "os.fork": "started a process",
    "os.forkpty": "started a process",
    "os.posix_spawn": "started a process",
    "pty.spawn": "started a process",
    "open": "wrote a file",
    "os.truncate": "wrote a file",
    "os.rename": "wrote a file",
    "os.link": "wrote a file",
    "os.symlink": "wrote a file",
    "os.mkdir": "wrote a file",
    "os.remove": "deleted a file",
    "os.rmdir": "deleted a file",
    "shutil.rmtree": "deleted a file",
}

_file: Path | None = None
_busy = threading.local()
_seen: set[tuple[str, str, str, int]] = set()


def observe(file: Path) -> None:
    """Note from now on, in this process, what the bodies of its steps do; it cannot be taken back."""
    global _file
    hooked, _file = _file is not None, file
    if not hooked:
        sys.addaudithook(_hook)


def _hook(event: str, args: tuple[Any, ...]) -> None:
    what = SAID.get(event)
    session = faults.attended()
    if what is None or session is None or getattr(_busy, "now", False):
        return
    if event == "open" and not _is_writing(args):
        return
    _busy.now = True
    try:
        place = _authors_place(sys._getframe(1))
        if place is not None:
            _note(session.begun.key, what, _detail(args), place)
    finally:
        _busy.now = False


def _is_writing(args: tuple[Any, ...]) -> bool:
    path, mode, flags = args
    if isinstance(path, str) and path.startswith(("/dev/", "/proc/")):
        return False
    if isinstance(mode, str):
        return any(letter in mode for letter in "wax+")
    return isinstance(flags, int) and bool(flags & WRITES)


def _authors_place(frame: FrameType | None) -> tuple[str, int] | None:
    """The innermost line of an author's, if it is in a step's body and the engine is not at work in it."""
    found: tuple[str, int] | None = None
    for _ in range(DEEPEST):
        if frame is None:
            return None
        name = frame.f_code.co_filename
        if found is None and _is_engines(name):
            return None
        if found is None and _is_authors(name):
            found = (name, frame.f_lineno)
        if found is not None and (frame.f_code.co_name, name) == BODY:
            return found
        frame = frame.f_back
    return None


def _is_engines(name: str) -> bool:
    return name.startswith(ENGINE) and not name.startswith(AUTHORS)


def _is_authors(name: str) -> bool:
    return not (name.startswith(NOT_AUTHORS) or "site-packages" in name or _is_engines(name))


def _detail(args: tuple[Any, ...]) -> str:
    told = args[1] if args and hasattr(args[0], "fileno") and len(args) > 1 else args[0]
    return str(told)[:200]


def _note(step: str, what: str, detail: str, place: tuple[str, int]) -> None:
    """One line a place; whoever does it a thousand times says it once in each process."""
    file, line = place
    if (step, what, file, line) in _seen or _file is None:
        return
    _seen.add((step, what, file, line))
    shown = file.removeprefix(f"{PROJECT}{os.sep}")
    said = {"step": step, "what": what, "detail": detail, "file": shown, "line": line}
    descriptor = os.open(_file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    os.write(descriptor, json.dumps(said).encode() + b"\n")
    os.close(descriptor)
