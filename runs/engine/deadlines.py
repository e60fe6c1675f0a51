"""Which runs in nobody's hands have used up their deadline, asked for no oftener than needed."""

import time
from collections.abc import Iterator
from uuid import UUID

from runs.queries.limits import deadline_of, may_be_over


class Deadlines:
    """When each run that is older than its deadline has to be looked at again.

    Time that was spent waiting for people does not count, so an old run may have plenty left;
    it cannot use it faster than the clock goes.
    """

    def __init__(self) -> None:
        self._look_again: dict[UUID, float] = {}

    def over(self) -> Iterator[UUID]:
        """The runs to stop now."""
        now = time.monotonic()
        self._look_again = {run: at for run, at in self._look_again.items() if at > now}
        for run_id in may_be_over(besides=[*self._look_again]):
            standing = deadline_of(run_id)
            if standing is None:
                continue
            if standing.is_over:
                yield run_id
            else:
                self._look_again[run_id] = now + standing.left.total_seconds()
