"""Duties that other apps give the watch: it runs them as children of its own without knowing them."""

from collections.abc import Callable
from typing import Protocol


class Run(Protocol):
    """Goes round until `stopped`; `must_end(seconds)` has the parent kill what hangs longer."""

    def __call__(
        self, *, stopped: Callable[[], bool], must_end: Callable[[float | None], None]
    ) -> None: ...


_duties: dict[str, Run] = {}


def register(name: str, run: Run) -> None:
    """Called from an app's `ready`; the same name again takes the place of the one before."""
    _duties[name] = run


def registered() -> list[tuple[str, Run]]:
    """In the order in which they were registered."""
    return list(_duties.items())
