"""Slots drawn as bars: taller where a gap was longer, a hole where a beat is missing; and said in words."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from monitors.rules.beats import Slot
from runs.rules.words import of, span

STEP, WIDTH, HEIGHT = 6, 5, 24
LOWEST = 8
WORDS = {
    "down": "missing",
    "late": "late",
    "slow": "slow",
    "blind": "not looked at",
    "paused": "paused",
    "up": "up",
    "none": "not known",
}
FAMILIES = {"down": "failed", "late": "waiting", "slow": "waiting", "up": "ok"}
SAID_WITH_TIME = ("down", "late", "slow")
Clock = Callable[[datetime], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """`kind` is solid, hole, hatch, rest or nothing; the family gives its colour."""

    x: int
    y: int
    height: int
    kind: str
    family: str
    title: str


def bars_of(slots: Sequence[Slot], *, allowed: timedelta | None, clock: Clock) -> list[Bar]:
    """`allowed` is the gap at which a beat counts as missing: as tall as a bar gets."""
    return [_bar(slot, number, allowed=allowed, clock=clock) for number, slot in enumerate(slots)]


def _bar(slot: Slot, number: int, *, allowed: timedelta | None, clock: Clock) -> Bar:
    height = _height(slot, allowed)
    return Bar(
        x=number * STEP,
        y=HEIGHT - height,
        height=height,
        kind=_kind(slot),
        family=FAMILIES.get(slot.state, "idle"),
        title=_title(slot, clock),
    )


def _kind(slot: Slot) -> str:
    kinds = {"blind": "hatch", "paused": "rest", "none": "nothing"}
    if slot.state == "down":
        return "solid" if slot.beats else "hole"
    return kinds.get(slot.state, "solid")


def _height(slot: Slot, allowed: timedelta | None) -> int:
    if slot.state in ("down", "blind"):
        return HEIGHT
    if slot.gap is None or not allowed:
        return LOWEST
    share = min(slot.gap / allowed, 1.0)
    return round(LOWEST + (HEIGHT - LOWEST) * share)


def _title(slot: Slot, clock: Clock) -> str:
    gap = f", longest gap {span(slot.gap)}" if slot.gap is not None else ""
    return f"{clock(slot.start)} to {clock(slot.end)}: {WORDS[slot.state]}{gap}"


def text_of(slots: Sequence[Slot], *, clock: Clock) -> str:
    """What the bar shows, for whoever does not see it."""
    if not slots:
        return "Nothing is known yet."
    counted = Counter(slot.state for slot in slots)
    said = [_counted(state, counted[state], slots, clock) for state in WORDS if counted[state]]
    said.sort(key=lambda text: not text.endswith(WORDS["up"]))
    each = span(slots[0].end - slots[0].start)
    return f"{of(len(slots), 'slot')} of {each} to {clock(slots[-1].end)}: {', '.join(said)}."


def _counted(state: str, amount: int, slots: Sequence[Slot], clock: Clock) -> str:
    text = f"{amount} {WORDS[state]}"
    if state not in SAID_WITH_TIME:
        return text
    first = next(slot for slot in slots if slot.state == state)
    return f"{text} {'at' if amount == 1 else 'from'} {clock(first.start)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bin:
    """How many gaps were between two lengths; `share` of the fullest bin, in percent."""

    from_: timedelta
    to: timedelta
    amount: int
    share: int
    over: bool


def histogram(
    gaps: Sequence[timedelta], *, allowed: timedelta | None, amount: int = 10
) -> list[Bin]:
    """Gaps between beats in equal bins; those longer than `allowed` are the ones that alert."""
    if not gaps:
        return []
    top = max(max(gaps), allowed or timedelta(), timedelta(milliseconds=1)) * 1.0001
    each = top / amount
    counted = Counter(min(int(gap / each), amount - 1) for gap in gaps)
    most = max(counted.values())
    return [
        Bin(
            from_=each * number,
            to=each * (number + 1),
            amount=counted[number],
            share=round(100 * counted[number] / most),
            over=allowed is not None and each * number >= allowed,
        )
        for number in range(amount)
    ]
