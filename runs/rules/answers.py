"""A closed wait, as the body that is entered again finds it."""

from dataclasses import dataclass
from typing import Any

from runs.rules.states import WaitState


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """`asked` is what was asked, `answer` the one answer it got."""

    wait_id: int
    state: WaitState
    answer: Any
    asked: Any
    by: str
