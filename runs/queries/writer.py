"""Who holds SQLite's one write lock now: while it is held by somebody who stands still, nobody writes."""

from pathlib import Path

from django.db import connection

LOCKS = Path("/proc/locks")
# In WAL mode the writer locks this byte of the -shm file; see SQLite's walformat.html.
WRITE_LOCK = "120"


def holder() -> int | None:
    """The process id; None when nobody holds it, or when it cannot be known here.

    The kernel's list is read, not the file: closing the file would drop this process's own locks.
    """
    if connection.vendor != "sqlite" or not LOCKS.exists():
        return None
    file = Path(f"{connection.settings_dict['NAME']}-shm")
    if not file.exists():
        return None
    inode = str(file.stat().st_ino)
    for line in LOCKS.read_text().splitlines():
        # 1: POSIX ADVISORY WRITE pid device:inode first last; a waiting one has "->" in front.
        match line.split():
            case [_, "POSIX", _, "WRITE", pid, place, first, last] if place.rpartition(":")[
                2
            ] == inode and int(first) <= int(WRITE_LOCK) <= _end(last):
                return int(pid)
    return None


def _end(last: str) -> float:
    return float("inf") if last == "EOF" else int(last)
