"""Points at which a rehearsal kills this very process: inert unless the environment arms one.

FAULT_AT=name or FAULT_AT=name:n is SIGKILL at the n-th time a process reaches the point. FAULT_AT=@file
reads that from a file, where all processes count down together; who dies takes it away, so it happens once.
"""

import os
import signal
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
    armed = os.environ.get("FAULT_AT", "")
    if armed.startswith("@"):
        due = _is_due_in(Path(armed[1:]), point)
    else:
        due = armed != "" and _is_due(armed, point)
    if due:
        os.kill(os.getpid(), signal.SIGKILL)


def _is_due(armed: str, point: Point) -> bool:
    name, _, number = armed.partition(":")
    if name != point:
        return False
    _reached[point] += 1
    return _reached[point] == int(number or 1)


def _is_due_in(file: Path, point: Point) -> bool:
    try:
        name, _, number = file.read_text().strip().partition(":")
        if name != point:
            return False
        if (left := int(number or 1) - 1) == 0:
            file.unlink()
            return True
        draft = file.with_name(f"{file.name}.{os.getpid()}")
        draft.write_text(f"{name}:{left}")
        draft.replace(file)
    except FileNotFoundError:
        pass  # nothing is armed, or somebody else was first
    return False
