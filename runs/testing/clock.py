"""The engine's clock in a test's hands: it goes on by being moved, never by waiting."""

from datetime import timedelta
from types import TracebackType
from typing import Self

from django.conf import settings

from runs.conf import conf

OFFSET = "CLOCK_OFFSET_SECONDS"


class Clock:
    """Moves what the engine takes for the database's time (R31); the author's own clock stays."""

    def __enter__(self) -> Self:
        self._before = getattr(settings, OFFSET, None)
        return self

    def advance(self, by: timedelta) -> None:
        if by < timedelta(0):
            raise ValueError(f"The clock cannot go back by {-by}: no database's clock does.")
        moved = conf().clock_offset + by
        setattr(settings, OFFSET, moved.total_seconds())
        conf.cache_clear()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._before is None:
            if hasattr(settings, OFFSET):
                delattr(settings, OFFSET)
        else:
            setattr(settings, OFFSET, self._before)
        conf.cache_clear()
