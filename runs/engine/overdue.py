"""End the process of a step that does not return although its timeout is over, from outside (R26)."""

import logging
import time
from uuid import UUID

from runs.engine.limits import ENDED_AFTER
from runs.engine.takeover import end_process
from runs.queries.overruns import limited_steps
from runs.rules.identity import ProcessIdentity

log = logging.getLogger(__name__)

# The worker's own cluster is first, and its sentinel knows the time to the tenth of a second.
AFTER_THE_SENTINEL = 3.0

Claim = tuple[UUID, int, str]


class Overdue:
    """Since when each limited step has been running, by this process's monotonic clock.

    A wall clock that jumps ends nobody; a watch that has just started gives everybody their time.
    """

    def __init__(self) -> None:
        self._since: dict[Claim, float] = {}

    def look(self, *, here: ProcessIdentity) -> None:
        """Kill the processes, with their groups, whose step is past its timeout and the grace."""
        now = time.monotonic()
        running = {
            (step.run_id, step.fence, step.step): step
            for step in limited_steps()
            if step.identity.on_the_machine_of(here)
        }
        self._since = {claim: self._since.get(claim, now) for claim in running}
        for claim, step in running.items():
            grace = ENDED_AFTER + AFTER_THE_SENTINEL
            if now - self._since[claim] > step.timeout.total_seconds() + grace:
                log.error("step.overdue", extra={"run": str(step.run_id), "step": step.step})
                end_process(step.identity)
