"""One thing an author has to mend, and where."""

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from runs.definition.places import Place

Level = Literal["error", "warning", "info"]

_LEVELS: dict[str, Level] = {"E": "error", "W": "warning", "I": "info"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """What is wrong, what to write instead, and where."""

    id: str
    level: Level
    message: str
    hint: str
    file: str
    line: int

    @property
    def place(self) -> Place:
        """The file and line; printed short."""
        return Place(file=self.file, line=self.line)


def problem(code: str, message: str, *, hint: str, place: Place) -> Problem:
    """A problem at a place; the code's letter is its level."""
    return Problem(
        id=f"runs.{code}",
        level=_LEVELS[code[0]],
        message=message,
        hint=hint,
        file=place.file,
        line=place.line,
    )


def nearest(wanted: str, known: Iterable[str]) -> str:
    """ "Did you mean ...?" where a known name is close, else what is known."""
    listed = sorted(known)
    close = difflib.get_close_matches(wanted, listed, n=1)
    if close:
        return f"Did you mean {close[0]!r}?"
    return f"Known here: {', '.join(listed) or 'nothing'}."
