"""How long the last runs of a workflow took: two figures, and a line that shows their course."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from math import ceil

WIDTH, HEIGHT = 240, 24
FEWEST_DRAWN = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Durations:
    """`half` of them and `most` of them, 19 of 20, took no longer; `line` is drawn if enough ran."""

    amount: int
    half: timedelta
    most: timedelta
    line: str


def durations_of(took: Sequence[timedelta]) -> Durations | None:
    """Of runs in the order in which they began; none took none."""
    if not took:
        return None
    ordered = sorted(took)
    return Durations(
        amount=len(took),
        half=_within(ordered, 50),
        most=_within(ordered, 95),
        line=_line(took, ordered[-1]) if len(took) >= FEWEST_DRAWN else "",
    )


def _within(ordered: Sequence[timedelta], percent: int) -> timedelta:
    return ordered[ceil(len(ordered) * percent / 100) - 1]


def _line(took: Sequence[timedelta], longest: timedelta) -> str:
    """Points of a polyline; the longest one touches the top, none the bottom."""
    step = WIDTH / (len(took) - 1)
    share = [each / longest if longest else 0.0 for each in took]
    return " ".join(
        f"{number * step:.1f},{HEIGHT - 2 - of * (HEIGHT - 4):.1f}"
        for number, of in enumerate(share)
    )
