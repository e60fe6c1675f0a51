"""Points at which a rehearsal kills this very process: inert unless the environment arms one.

FAULT_AT=name[:n][@step][!how] strikes at the n-th time a process reaches the point (in that step);
how is `kill` (SIGKILL, the default) or `stop` (SIGSTOP). FAULT_AT=@file reads that from a file, where
all processes count down together; who dies takes it away, so it happens once. FAULT_AT=@folder reads
it from the file named by the run's id, or `any.POINT`, and notes each strike in `strikes.jsonl`.
"""

import json
import os
import re
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from runs.ledger import commits
from runs.rules.claims import StepBegun
from runs.rules.crash_points import POINTS, Point
from runs.rules.fence import Fence

__all__ = ["POINTS", "Died", "Point", "attend", "dying_at", "reach"]

SPEC = re.compile(
    r"(?P<point>[a-z_]+)(:(?P<at>\d+))?(@(?P<step>[^!\s]+))?(!(?P<how>kill|stop))?\s*"
)
ANY_RUN, STRIKES = "any", "strikes.jsonl"
# While the folder holds a file of this name, every point that is reached is written down.
TRACE, REACHED = "trace", "reached.jsonl"
SIGNALS = {"kill": signal.SIGKILL, "stop": signal.SIGSTOP}


class Died(BaseException):
    """A test's own process was to die here (`dying_at`)."""


class Attended(Protocol):
    """The claim that this process works on."""

    @property
    def begun(self) -> StepBegun: ...
    @property
    def fence(self) -> Fence: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """What is armed: die at the `left`-th time this point is reached (in this step)."""

    point: str
    left: int
    step: str
    how: Literal["kill", "stop"]

    def text(self) -> str:
        step = f"@{self.step}" if self.step else ""
        return f"{self.point}:{self.left}{step}!{self.how}"

    def one_less(self) -> "Spec":
        return Spec(point=self.point, left=self.left - 1, step=self.step, how=self.how)

    def meets(self, point: Point, step: str) -> bool:
        return self.point == point and self.step in ("", step)


_armed = os.environ.get("FAULT_AT", "")
_attended: Attended | None = None
_own: list[Spec] = []
_rehearsal: Callable[[Point, str], None] | None = None


def attend(session: Attended | None) -> None:
    """Which claim this process works on from now on; it tells in whose step a point is reached."""
    global _attended
    _attended = session


def arm_this_process(spec: str) -> None:
    """Have this process, a fork made for it, die where the text says."""
    global _armed
    _armed = spec
    _own.clear()
    commits.listen(reach)


def attended() -> Attended | None:
    return _attended


def reach(point: Point, *, step: str = "", run: str = "") -> None:
    """Die here, if this is where the rehearsal wants it."""
    if not _armed and _rehearsal is None:
        return
    if _attended is not None:
        run = run or str(_attended.fence.run_id)
        if run == str(_attended.fence.run_id):
            step = step or _attended.begun.key
    if _rehearsal is not None:
        _rehearsal(point, step)
    elif _armed.startswith("@"):
        _reach_in(Path(_armed[1:]), point, step=step, run=run)
    elif struck := _own_countdown(point, step):
        os.kill(os.getpid(), SIGNALS[struck.how])


def spec_of(text: str) -> Spec | None:
    """What a text arms; None for what is no point."""
    found = SPEC.fullmatch(text)
    if found is None or found["point"] not in POINTS:
        return None
    how: Literal["kill", "stop"] = "stop" if found["how"] == "stop" else "kill"
    return Spec(point=found["point"], left=int(found["at"] or 1), step=found["step"] or "", how=how)


def _own_countdown(point: Point, step: str) -> Spec | None:
    if not _own and (armed := spec_of(_armed)):
        _own.append(armed)
    if not _own or not _own[0].meets(point, step):
        return None
    _own[0] = _own[0].one_less()
    return _own[0] if _own[0].left == 0 else None


def _reach_in(place: Path, point: Point, *, step: str, run: str) -> None:
    if not place.is_dir():
        if struck := _count_down(place, point, step):
            os.kill(os.getpid(), SIGNALS[struck.how])
        return
    if (place / TRACE).exists():
        _note(place / REACHED, point, step=step, run=run, how="trace")
    for name in (run, f"{ANY_RUN}.{point}") if run else (f"{ANY_RUN}.{point}",):
        if struck := _count_down(place / name, point, step):
            _note(place / STRIKES, point, step=step, run=run, how=struck.how)
            os.kill(os.getpid(), SIGNALS[struck.how])


def _count_down(file: Path, point: Point, step: str) -> Spec | None:
    try:
        armed = spec_of(file.read_text().strip())
        if armed is None or not armed.meets(point, step):
            return None
        left = armed.one_less()
        if left.left == 0:
            file.unlink()
            return left
        draft = file.with_name(f"{file.name}.{os.getpid()}")
        draft.write_text(left.text())
        draft.replace(file)
    except FileNotFoundError:
        pass  # nothing is armed, or somebody else was first
    return None


def _note(file: Path, point: Point, *, step: str, run: str, how: str) -> None:
    line = {"at": time.time(), "pid": os.getpid(), "point": point, "step": step, "run": run}
    # One write with O_APPEND: lines of processes that die at once do not mix.
    descriptor = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    os.write(descriptor, json.dumps({**line, "how": how}).encode() + b"\n")
    os.close(descriptor)


@contextmanager
def dying_at(point: Point, *, step: str = "", at: int = 1) -> Iterator[None]:
    """In this process alone, raise Died at the `at`-th time the point is reached (in this step)."""
    global _rehearsal
    left = [Spec(point=point, left=at, step=step, how="kill")]

    def rehearse(reached: Point, where: str) -> None:
        if left[0].left > 0 and left[0].meets(reached, where):
            left[0] = left[0].one_less()
            if left[0].left == 0:
                raise Died(f"{reached} in step {where}" if where else reached)

    _rehearsal = rehearse
    commits.listen(reach)
    try:
        yield
    finally:
        _rehearsal = None
        commits.listen(reach if _armed else None)


if _armed:
    commits.listen(reach)
