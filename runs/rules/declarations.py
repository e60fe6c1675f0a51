"""What is wrong with a workflow's declarations, found without running it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from runs.definition.workflow import Workflow

Level = Literal["error", "warning", "info"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing to mend: what is wrong, what to write, and where."""

    id: str
    level: Level
    message: str
    hint: str
    file: str
    line: int


def problems(cls: type[Workflow], *, longest_step: timedelta | None = None) -> list[Problem]:
    """Everything wrong with a workflow; `longest_step` is what the queue allows a step."""
    return []
