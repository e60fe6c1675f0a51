"""A death that a test has in store for its worker."""

from contextlib import ExitStack
from dataclasses import dataclass, replace

from runs.engine import faults
from runs.rules.crash_points import POINTS, SAYS, Point

# Those that a worker comes by; the rest belong to the watch and to people.
CRASH_POINTS: tuple[Point, ...] = POINTS[: POINTS.index("enlisted")]


class NoSuchCrashPoint(LookupError):
    """A worker never comes by a point of this name; the text lists those it does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kill:
    """Where, and for how many workers more; `must` when a test is wrong in which it never happens."""

    point: Point
    step: str
    left: int
    must: bool

    def __post_init__(self) -> None:
        if self.point not in CRASH_POINTS:
            known = "\n".join(f"  {each}: {SAYS[each]}" for each in CRASH_POINTS)
            raise NoSuchCrashPoint(
                f"{self.point!r} is no point at which a worker can die:\n{known}"
            )

    def __str__(self) -> str:
        return f"{self.point} in step {self.step}" if self.step else self.point

    def arm(self, stack: ExitStack, *, at: int) -> None:
        stack.enter_context(faults.dying_at(self.point, step=self.step, at=at))

    def struck(self, stack: ExitStack) -> "Kill | None":
        """What is still in store for the next worker."""
        if self.left == 1:
            return None
        following = replace(self, left=self.left - 1)
        following.arm(stack, at=1)
        return following
