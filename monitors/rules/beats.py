"""A stretch of time cut into slots: the worst that happened in each, and how long a beat was missing."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise

# The worst first: a slot shows the worst of what happened in it.
ORDER = ("down", "late", "slow", "blind", "paused", "up", "none")
WORSE = {state: rank for rank, state in enumerate(ORDER)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Spell:
    """From when until when a monitor was in a state; one that lasts has no end."""

    start: datetime
    end: datetime | None
    state: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """`gap` is the longest time without a beat that ended or still lasted in this slot."""

    start: datetime
    end: datetime
    state: str
    gap: timedelta | None
    beats: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """`amount` slots of `each`, the last one holding `until`."""

    until: datetime
    each: timedelta
    amount: int

    @property
    def start(self) -> datetime:
        return self.until - self.each * self.amount


def slots_of(
    stretch: Stretch,
    *,
    spells: Sequence[Spell],
    beats: Sequence[datetime] = (),
    expected: timedelta | None = None,
) -> list[Slot]:
    """Each slot of the stretch; `beats` in rising order, with the last one before it if known."""
    return [
        _slot(
            stretch.start + stretch.each * number,
            stretch.start + stretch.each * (number + 1),
            spells=spells,
            beats=beats,
            expected=expected,
        )
        for number in range(stretch.amount)
    ]


def _slot(
    start: datetime,
    end: datetime,
    *,
    spells: Sequence[Spell],
    beats: Sequence[datetime],
    expected: timedelta | None,
) -> Slot:
    first, behind = bisect_right(beats, start), bisect_right(beats, end)
    gap = _longest_gap(beats, first, behind, end)
    states = [spell.state for spell in spells if spell.start < end and (spell.end or end) > start]
    if behind > first:
        late = expected is not None and gap is not None and gap > expected * 1.1
        states.append("late" if late and not {"blind", "down"} & set(states) else "up")
    state = min(states, key=lambda each: WORSE[each], default="none")
    return Slot(start=start, end=end, state=state, gap=gap, beats=behind - first)


def _longest_gap(
    beats: Sequence[datetime], first: int, behind: int, end: datetime
) -> timedelta | None:
    ended = [beats[at] - beats[at - 1] for at in range(max(first, 1), behind)]
    if not ended and behind:
        return end - beats[behind - 1]
    return max(ended, default=None)


def uptime(spells: Iterable[Spell], *, start: datetime, end: datetime) -> float | None:
    """The share of the watched time that was not down; None when nobody watched."""
    watched, down = timedelta(), timedelta()
    for spell in spells:
        lasted = min(spell.end or end, end) - max(spell.start, start)
        if lasted <= timedelta() or spell.state not in ("up", "late", "slow", "down"):
            continue
        watched += lasted
        down += lasted if spell.state == "down" else timedelta()
    return 1 - down / watched if watched else None


def gaps_of(beats: Sequence[datetime]) -> list[timedelta]:
    return [later - earlier for earlier, later in pairwise(beats)]
