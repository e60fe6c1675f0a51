"""How long people took, in the figures that say it: the middle, nine of ten, the longest."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil


@dataclass(frozen=True, slots=True, kw_only=True)
class Waited:
    """Seconds; None where nothing was answered."""

    amount: int
    p50: float | None
    p90: float | None
    p99: float | None
    longest: float | None


def waited(seconds: Iterable[float]) -> Waited:
    found = sorted(max(each, 0.0) for each in seconds)
    return Waited(
        amount=len(found),
        p50=percentile(found, 50),
        p90=percentile(found, 90),
        p99=percentile(found, 99),
        longest=found[-1] if found else None,
    )


def percentile(ordered: list[float], percent: int) -> float | None:
    """The nearest rank: a time that somebody really waited, never one between two."""
    if not ordered:
        return None
    return ordered[max(ceil(len(ordered) * percent / 100), 1) - 1]
