"""The last day hour by hour: how many runs began in each, as they stand now; drawn, and said in words."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from runs.rules.looks import Family, look_of
from runs.rules.words import of

HOURS = 24
HOUR = timedelta(hours=1)
# Of the drawing; so much of it at least is what there is one of among thousands.
HEIGHT, LEAST = 64, 3
# From the bottom up: what went well, what goes on, what did not.
STACK: tuple[Family, ...] = ("ok", "active", "waiting", "failed", "idle")
NAME = "%Y-%m-%dT%HZ"
YEARS = range(2000, 2200)


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """So many runs began in the hour from `start`, and are in this state now."""

    start: datetime
    state: str
    amount: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One family of states in a bar, as high as there are many of it."""

    family: Family
    y: int
    height: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One hour; `name` is what it is called in the address of the list of its runs."""

    start: datetime
    end: datetime
    name: str
    amount: int
    says: str
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hours:
    """`states` are how many there are of each in all; `more` says that older ones were not counted."""

    bars: tuple[Bar, ...]
    states: Mapping[str, int]
    more: bool

    @property
    def amount(self) -> int:
        return sum(self.states.values())


def since(now: datetime) -> datetime:
    """The beginning of the first of the hours, the last of which goes on now."""
    return _hour_of(now) - HOUR * (HOURS - 1)


def hours_of(begun: Sequence[Begun], *, now: datetime, more: bool = False) -> Hours:
    """A bar for each of the last 24 hours, also where nothing began."""
    counted: dict[datetime, Counter[str]] = {}
    for each in begun:
        counted.setdefault(_hour_of(each.start), Counter())[each.state] += each.amount
    starts = [since(now) + HOUR * number for number in range(HOURS)]
    within = [counted.get(start, Counter()) for start in starts]
    most = max(counter.total() for counter in within)
    total: Counter[str] = Counter()
    for counter in within:
        total.update(counter)
    return Hours(
        bars=tuple(_bar(*each, most) for each in zip(starts, within, strict=True)),
        states=_in_order(total),
        more=more,
    )


def hour_named(name: str) -> datetime | None:
    """The hour that an address names; nothing where it names none."""
    try:
        found = datetime.strptime(name, NAME).replace(tzinfo=UTC)
    except ValueError:
        return None
    return found if found.year in YEARS else None


def _hour_of(at: datetime) -> datetime:
    return at.astimezone(UTC).replace(minute=0, second=0, microsecond=0)


def _bar(start: datetime, states: Counter[str], most: int) -> Bar:
    amount = states.total()
    ordered = _in_order(states)
    listed = ", ".join(f"{many:,} {state}" for state, many in ordered.items())
    return Bar(
        start=start,
        end=start + HOUR,
        name=f"{start:{NAME}}",
        amount=amount,
        says=f"{of(amount, 'run')} started: {listed}" if amount else "no run started",
        parts=_parts(states, most),
    )


def _in_order(states: Mapping[str, int]) -> dict[str, int]:
    return dict(
        sorted(states.items(), key=lambda each: (STACK.index(look_of(each[0]).family), each[0]))
    )


def _parts(states: Mapping[str, int], most: int) -> tuple[Part, ...]:
    """Every part is seen, and all together are never higher than the drawing."""
    families: Counter[Family] = Counter()
    for state, many in states.items():
        families[look_of(state).family] += many
    room, bottom = HEIGHT - LEAST * len(STACK), HEIGHT
    found = []
    for family in STACK:
        if families[family]:
            height = LEAST + families[family] * room // most
            bottom -= height
            found.append(Part(family=family, y=bottom, height=height))
    return tuple(found)
