"""Whether this cluster is asked to finish: one flag that all its processes share."""

import mmap

# Anonymous shared memory, made before any fork: one byte, which no death can leave locked.
_FLAG = mmap.mmap(-1, 1)


def requested() -> bool:
    """Is this cluster to stop at the next step boundary and take no new work?"""
    return _FLAG[0] != 0


def request() -> None:
    """Ask every process of this cluster to finish."""
    _FLAG[0] = 1


def withdraw() -> None:
    """Take the request back; only tests do."""
    _FLAG[0] = 0
