"""What is over for long enough goes, in batches; each app names its parts, and says itself what may go."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

AT_ONCE = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One kind of thing that would grow for ever.

    `count` says how many may go that were over before a time. `remove` takes away so many of them at
    most, in one transaction with its record in the audit, and says how many; 0 when none is left.
    """

    name: str
    count: Callable[[datetime], int]
    remove: Callable[[datetime, int, str], int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Removed:
    name: str
    amount: int


_parts: dict[str, Part] = {}


def register(*parts: Part) -> None:
    """Called from an app's `ready`, in the order in which they go."""
    _parts.update({part.name: part for part in parts})


def would_go(before: datetime) -> list[Removed]:
    """What a clean-up would take away; nothing is written."""
    return [Removed(name=name, amount=part.count(before)) for name, part in _parts.items()]


def clean_up(before: datetime, *, by: str) -> list[Removed]:
    """Take away what was over before then; one that is stopped in the middle goes on the next time."""
    return [
        Removed(name=name, amount=_all_of(part, before, by=by)) for name, part in _parts.items()
    ]


def _all_of(part: Part, before: datetime, *, by: str) -> int:
    amount = 0
    while gone := part.remove(before, AT_ONCE, by):
        amount += gone
    return amount
