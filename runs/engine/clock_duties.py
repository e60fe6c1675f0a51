"""What other apps have the clockwork do: each duty says what is due, and does one of it at a time."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockDuty:
    """`due(at_most=...)` names what is due, by id; `act(id)` does it in a transaction of its own."""

    name: str
    due: Callable[..., Sequence[int]]
    act: Callable[[int], object]


_duties: dict[str, ClockDuty] = {}


def register(duty: ClockDuty) -> None:
    """Have the clockwork look after this too; registering anew replaces it."""
    _duties[duty.name] = duty


def registered() -> list[ClockDuty]:
    return list(_duties.values())
