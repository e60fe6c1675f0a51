"""Which steps of a long plan are shown at once: all of a short one, a hundred of a long one."""

from dataclasses import dataclass

AT_ONCE, WHOLE_UP_TO = 100, 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """From the step with this number to that one, both shown."""

    first: int
    last: int
    total: int

    @property
    def is_whole(self) -> bool:
        return self.last - self.first + 1 >= self.total

    @property
    def earlier(self) -> int:
        """Where the stretch before begins; 0 when there is none."""
        return max(self.first - AT_ONCE, 0)

    @property
    def later(self) -> int:
        return self.last + 1 if self.last < self.total else 0

    def holds(self, ordinal: int) -> bool:
        return self.first <= ordinal <= self.last


def stretch_of(total: int, *, around: int, asked: int | None = None) -> Stretch:
    """The stretch that a reader has asked for, else the one that holds the step `around`."""
    if total <= WHOLE_UP_TO:
        return Stretch(first=1, last=total, total=total)
    wanted = min(max(asked or around, 1), total)
    first = wanted - (wanted - 1) % AT_ONCE
    return Stretch(first=first, last=min(first + AT_ONCE - 1, total), total=total)
