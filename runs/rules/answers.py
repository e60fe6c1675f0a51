"""A closed wait, as the body that is entered again finds it."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from runs.rules.states import WaitState


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """`asked` is what was asked, `answer` the one answer it got, `at` when it took effect."""

    wait_id: int
    state: WaitState
    answer: Any
    asked: Any
    by: str
    at: datetime | None = None

    def holds(self, valid_for: timedelta | None, *, now: datetime) -> bool:
        """Whether it is not yet too old for what it allows."""
        return valid_for is None or self.at is None or now < self.at + valid_for
