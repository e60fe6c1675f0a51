"""Where in the author's code something was declared, so that every complaint can point there."""

import inspect
from dataclasses import dataclass
from pathlib import Path

_HERE = str(Path(__file__).parent)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A line of a file; printed relative to the current directory where that is shorter."""

    file: str
    line: int

    def __str__(self) -> str:
        path = Path(self.file)
        shown = path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
        return f"{shown}:{self.line}"


class DeclarationError(Exception):
    """A declaration that cannot be kept; the text names it, says why, and says what to write."""

    def __init__(self, message: str, *, hint: str, place: Place | None = None) -> None:
        self.message = message
        self.hint = hint
        self.place = place or declared_here()
        super().__init__(f"{message} {hint} ({self.place})")


def declared_here() -> Place:
    """The innermost line outside this package: the author's."""
    frame = inspect.currentframe()
    while frame is not None and _is_ours(frame.f_code.co_filename):
        frame = frame.f_back
    if frame is None:
        return Place(file="<unknown>", line=0)
    return Place(file=frame.f_code.co_filename, line=frame.f_lineno)


def _is_ours(filename: str) -> bool:
    # "<string>" is the __init__ that dataclasses write for themselves.
    return filename.startswith((_HERE, "<string>", "<frozen"))
