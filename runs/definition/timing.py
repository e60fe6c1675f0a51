"""How long people have: when they are reminded, who is asked too, when an answer begins and ends to hold."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from runs.definition.demands import names, require_positive
from runs.definition.places import DeclarationError

MOST_REMINDERS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """All counted from a moment of the decision; nothing of it ever answers for a person.

    `remind` and `escalate` count from its opening. `not_before` counts from the answer, which may be
    taken back until then. `valid_for` counts from when the answer takes effect: what has not left
    by then is asked about again.
    """

    remind: Sequence[timedelta] = ()
    escalate: timedelta | None = None
    escalate_to: Sequence[str] = ()
    not_before: timedelta | None = None
    valid_for: timedelta | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "remind", _lengths(self.remind))
        to = names("Timing: escalate_to", self.escalate_to)
        object.__setattr__(self, "escalate_to", to)
        for name in ("escalate", "not_before", "valid_for"):
            if (length := getattr(self, name)) is not None:
                require_positive(f"Timing: {name}", length)
        if (self.escalate is None) != (not to):
            raise DeclarationError(
                f"Timing: escalate is {self.escalate!r}, and escalate_to is {list(to)!r}.",
                hint='Give both or neither: escalate=timedelta(days=1), escalate_to=["managers"].',
            )

    def told(self) -> dict[str, Any]:
        """What is declared, as plans and asks keep it; lengths in seconds."""
        said = {
            "remind": [length.total_seconds() for length in self.remind],
            "escalate": _seconds(self.escalate),
            "escalate_to": list(self.escalate_to),
            "not_before": _seconds(self.not_before),
            "valid_for": _seconds(self.valid_for),
        }
        return {name: value for name, value in said.items() if value}


def require_timing(subject: str, value: object) -> None:
    """Refuse what is no Timing."""
    if not isinstance(value, Timing | None):
        raise DeclarationError(
            f"{subject}: timing is {value!r}.", hint="Write timing=Timing(remind=[...], ...)."
        )


def _lengths(values: object) -> tuple[timedelta, ...]:
    if isinstance(values, timedelta):
        values = (values,)
    if not isinstance(values, Sequence) or isinstance(values, str) or len(values) > MOST_REMINDERS:
        raise DeclarationError(
            f"Timing: remind is {values!r}.",
            hint=f"Write at most {MOST_REMINDERS} lengths of time: remind=[timedelta(hours=4)].",
        )
    for value in values:
        require_positive("Timing: remind", value)
    return tuple(sorted(set(values)))


def _seconds(length: timedelta | None) -> float | None:
    return length.total_seconds() if length is not None else None
