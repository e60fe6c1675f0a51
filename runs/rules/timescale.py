"""Time drawn as width: busy time to scale, long idle time folded to a narrow gap."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise

GAP_WIDTH = 4.0
SHORTEST_GAP = timedelta(seconds=20)
MOST_GAPS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    start: datetime
    end: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """Idle time that is not drawn to scale; `at` is its middle, in percent of the width."""

    start: datetime
    end: datetime
    at: float

    @property
    def length(self) -> timedelta:
        return self.end - self.start


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A stretch of time and the stretch of the width, in percent, that shows it."""

    start: datetime
    end: datetime
    left: float
    width: float
    folded: bool

    def x(self, at: datetime) -> float:
        length = (self.end - self.start).total_seconds()
        share = (at - self.start).total_seconds() / length if length else 0.0
        return self.left + self.width * min(max(share, 0.0), 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Timescale:
    pieces: tuple[Piece, ...]

    def x(self, at: datetime) -> float:
        """Where a moment stands, in percent from the left."""
        for piece in self.pieces:
            if at <= piece.end:
                return round(piece.x(at), 3)
        return 100.0

    @property
    def gaps(self) -> list[Gap]:
        return [
            Gap(start=piece.start, end=piece.end, at=round(piece.left + piece.width / 2, 3))
            for piece in self.pieces
            if piece.folded
        ]


def scale_of(busy: Iterable[Interval]) -> Timescale:
    """The scale on which these intervals are seen best."""
    merged = _merged(sorted(busy, key=lambda one: one.start))
    if not merged:
        return Timescale(pieces=())
    return Timescale(pieces=tuple(_laid_out(merged, folds=_folds(merged))))


def _merged(intervals: Sequence[Interval]) -> list[Interval]:
    merged: list[Interval] = []
    for one in intervals:
        if merged and one.start <= merged[-1].end:
            last = merged.pop()
            merged.append(Interval(start=last.start, end=max(last.end, one.end)))
        else:
            merged.append(one)
    return merged


def _folds(merged: Sequence[Interval]) -> set[datetime]:
    """The starts of the idle stretches that would crowd out the busy ones."""
    busy = sum((one.end - one.start for one in merged), timedelta())
    threshold = max(SHORTEST_GAP, busy / 2)
    idle = [(after.start - one.end, one.end) for one, after in pairwise(merged)]
    long = sorted(((length, start) for length, start in idle if length > threshold), reverse=True)
    return {start for _, start in long[:MOST_GAPS]}


def _laid_out(merged: Sequence[Interval], *, folds: set[datetime]) -> Iterable[Piece]:
    stretches = _stretches(merged, folds)
    drawn = sum((s.end - s.start for s, folded in stretches if not folded), timedelta())
    room = 100.0 - GAP_WIDTH * len(folds)
    per_second = room / max(drawn.total_seconds(), 0.001)
    left = 0.0
    for stretch, folded in stretches:
        length = (stretch.end - stretch.start).total_seconds()
        width = GAP_WIDTH if folded else length * per_second
        yield Piece(start=stretch.start, end=stretch.end, left=left, width=width, folded=folded)
        left += width


def _stretches(merged: Sequence[Interval], folds: set[datetime]) -> list[tuple[Interval, bool]]:
    found: list[tuple[Interval, bool]] = []
    start = merged[0].start
    for one, after in pairwise(merged):
        if one.end in folds:
            found.append((Interval(start=start, end=one.end), False))
            found.append((Interval(start=one.end, end=after.start), True))
            start = after.start
    found.append((Interval(start=start, end=merged[-1].end), False))
    return found
