"""Reminds people of what is still open, and finds what is wrong without a monitor."""

from functools import partial

from monitors.ledger import reminders, sweeping
from monitors.queries.incidents import tenants_to_tell
from runs.engine.rounds import Rounds, tried

DUTY = "alerts"


class Alerting(Rounds):
    """What is wrong with one tenant's incidents does not stop the others; after a jump nobody is told."""

    duty = DUTY
    every = 1.0
    longest = 120.0

    def act(self) -> int:
        return sum(
            tried(partial(reminders.remind, tenant_id), duty=DUTY, which=tenant_id) or 0
            for tenant_id in tenants_to_tell()
        )

    def tick(self) -> None:
        """What sweeping reads has no index of its own, so it goes with the tick."""
        sweeping.sweep()
        super().tick()
