"""Who belongs to a worker: its process group and its mark, so that what a step started dies with it."""

import ctypes
import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

MARK = "MILEPOST_WORKER"
MAIN, SENTINEL = "mp-main", "mp-sentinel"  # what `ps -o comm` calls them
WORKER = "mp-worker"  # and a worker with its forks
PROC = Path("/proc")
PR_SET_PDEATHSIG, PR_SET_NAME = 1, 15
PATIENCE = 2.0  # seconds a killed process may take to go

_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """One process, told apart from a later one with the same pid by its start time in ticks."""

    pid: int
    started: int

    @property
    def mark(self) -> str:
        """What the worker's children carry in their environment; pids mean something in one namespace."""
        return f"{self.pid}.{self.started}.{_namespace('self')}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seen:
    pid: int
    parent: int
    name: str
    group: int
    session: int
    started: int
    gone: bool


def identity_of(pid: int) -> Identity | None:
    """Who has this pid now; None if nobody who still runs."""
    seen = _look(pid)
    return None if seen is None or seen.gone else Identity(pid=pid, started=seen.started)


def alive(who: Identity) -> bool:
    """Does this very process still run? A zombie does not, a stopped one does."""
    return identity_of(who.pid) == who


def die_with_parent(parent: int, with_signal: int = signal.SIGKILL) -> None:
    """Have the kernel end this process when `parent` ends, however that happens."""
    _libc.prctl(PR_SET_PDEATHSIG, int(with_signal))
    if os.getppid() != parent:  # it ended before the kernel was told
        os._exit(70)


def name_process(name: str) -> None:
    """The name that `ps -o comm` and `top` show."""
    _libc.prctl(PR_SET_NAME, name.encode()[:15])


def lead() -> Identity:
    """Make this process the leader of a group of its own and mark what it will start."""
    os.setpgid(0, 0)
    me = Identity(pid=os.getpid(), started=_started_of_this())
    os.environ[MARK] = me.mark
    return me


def _started_of_this() -> int:
    seen = _look(os.getpid())
    return seen.started if seen else 0


def end(who: Identity) -> None:
    """Kill a worker and all that it started, and wait until they are gone."""
    deadline = time.monotonic() + PATIENCE
    while (left := list(_members(who))) and time.monotonic() < deadline:
        for pid in left:
            _kill(pid)
        time.sleep(0.01)


def sweep() -> int:
    """Kill what dead workers of this machine left behind; answer how many."""
    orphans = [seen.pid for seen in _all_running() if _is_orphan(seen)]
    for pid in orphans:
        _kill(pid)
    return len(orphans)


def _members(who: Identity) -> Iterator[int]:
    leader = _look(who.pid)
    session = leader.session if leader and leader.started == who.started else os.getsid(0)
    for seen in _all_running():
        # The session tells our group from one that a stranger opened later under the same number.
        # A fork of a worker keeps its name, also where whoever looks is of another session.
        in_group = seen.group == who.pid and (seen.session == session or seen.name == WORKER)
        itself = seen.pid == who.pid and seen.started == who.started
        if in_group or itself or _mark_of(seen.pid) == who.mark:
            yield seen.pid


def _is_orphan(seen: _Seen) -> bool:
    match _mark_of(seen.pid).split("."):
        case [leader, started, namespace] if namespace == _namespace("self"):
            return not alive(Identity(pid=int(leader), started=int(started)))
    return seen.name in (WORKER, SENTINEL) and _same_namespace(seen.pid) and _is_left_alone(seen)


def _is_left_alone(seen: _Seen) -> bool:
    if seen.name == SENTINEL:  # it was stopped when its main died, and could not hear of it
        parent = _look(seen.parent)
        # What it has just forked bears its name for a moment; another cluster may sweep just then.
        return parent is None or parent.name not in (MAIN, SENTINEL)
    # A fork of a worker has no environment of its own to carry the mark, but it keeps the group.
    return seen.group != seen.pid and identity_of(seen.group) is None


def _all_running() -> Iterator[_Seen]:
    for entry in PROC.iterdir():
        if entry.name.isdigit() and (seen := _look(int(entry.name))) and not seen.gone:
            yield seen


def _look(pid: int) -> _Seen | None:
    try:
        # The name in brackets may hold anything, so read from its last bracket on.
        named, _, rest = (PROC / str(pid) / "stat").read_bytes().rpartition(b") ")
    except OSError:
        return None
    fields = rest.split()
    return _Seen(
        pid=pid,
        parent=int(fields[1]),
        name=named.partition(b"(")[2].decode(errors="replace"),
        gone=fields[0] in {b"Z", b"X"},
        group=int(fields[2]),
        session=int(fields[3]),
        started=int(fields[19]),
    )


def _mark_of(pid: int) -> str:
    try:
        environment = (PROC / str(pid) / "environ").read_bytes()
    except OSError:
        return ""
    if not _same_namespace(pid):
        return ""
    _, found, rest = (b"\0" + environment).partition(f"\0{MARK}=".encode())
    return rest.partition(b"\0")[0].decode(errors="replace") if found else ""


def _same_namespace(pid: int) -> bool:
    """Pids in another container's marks mean nothing here."""
    try:
        return _namespace(str(pid)) == _namespace("self")
    except OSError:
        return False


def _namespace(pid: str) -> str:
    return str((PROC / pid / "ns" / "pid").readlink()).strip("pid:[]")


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return
