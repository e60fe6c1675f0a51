"""Whether the database's clock goes as fast as this process's own; after a jump nothing expires (R31)."""

import logging
import time
from typing import TYPE_CHECKING

from runs.conf import conf
from runs.ledger import ticks
from runs.queries.clock import db_now

if TYPE_CHECKING:
    from datetime import datetime

log = logging.getLogger(__name__)

# Wall clock and monotonic clock may differ by this much between two looks.
TOLERANCE = 5.0


class SteadyClock:
    """Not steady for one lease after a jump: whoever lives renews it by then."""

    def __init__(self, holder: str) -> None:
        self.holder = holder
        self.held_until = 0.0
        self._seen: tuple[datetime, float] | None = None

    def is_steady(self) -> bool:
        wall, mono = db_now(), time.monotonic()
        before, self._seen = self._seen, (wall, mono)
        drift = (wall - before[0]).total_seconds() - (mono - before[1]) if before else 0.0
        if abs(drift) > TOLERANCE:
            log.error("clockwork.clock_jumped", extra={"seconds": round(drift, 3)})
            self.held_until = mono + conf().lease.total_seconds()
            ticks.note("clock_jump", holder=self.holder)
        return mono >= self.held_until
