"""Points at which a rehearsal kills this very process: inert unless the environment arms one.

FAULT_AT=name or FAULT_AT=name:n is SIGKILL at the n-th time the process reaches the point. With
FAULT_MARK=file only the first process that gets there dies: it leaves the file behind.
"""

import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import Literal, get_args

Point = Literal[
    "claimed",  # the claim is committed, nothing else has happened
    "before_body",
    "after_body",
    "intent_committed",  # a call is named, and nothing has left
    "sent",  # the receiver has answered, and nobody knows it yet
    "before_result",  # an answer, from the receiver or a probe, is about to be booked
    "result_committed",
    "before_commit",  # of a page or a step, after the author's writes
    "committed",
    "parked",  # a wait is committed, and the worker still thinks of its run
    "released",  # the run has ended or was stopped
    "handed_back",
]
POINTS: tuple[Point, ...] = get_args(Point)

_reached = dict.fromkeys(POINTS, 0)


def reach(point: Point) -> None:
    """Die here, if this is where the rehearsal wants it."""
    wanted = os.environ.get("FAULT_AT")
    if not wanted:
        return
    name, _, number = wanted.partition(":")
    if name != point:
        return
    _reached[point] += 1
    if _reached[point] == int(number or 1) and _is_first():
        os.kill(os.getpid(), signal.SIGKILL)


def _is_first() -> bool:
    mark = os.environ.get("FAULT_MARK")
    if not mark:
        return True
    with suppress(FileExistsError):
        Path(mark).touch(exist_ok=False)
        return True
    return False
