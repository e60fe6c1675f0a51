"""Free SQLite's one write lock from a worker that holds it and does not go on (R29)."""

import logging
import time
from datetime import timedelta

from django.db import connection

from runs.engine import identity
from runs.engine.takeover import end_process
from runs.queries import writer
from runs.queries.workers import SeenWorker, workers_to_look_at
from runs.rules.identity import ProcessIdentity

log = logging.getLogger(__name__)

# The clockwork waits no longer for the lock than this, so that it comes round to look who has it.
WAITS_AT_MOST = "PRAGMA busy_timeout = 2000"
# A stopped process that held the lock at every look for so long is not about to let it go.
STOPPED_FOR = 5.0


class Writer:
    """What was seen of the lock's holder in the passes before this one."""

    def __init__(self) -> None:
        self._pid: int | None = None
        self._since = 0.0

    def look(self, *, here: ProcessIdentity) -> bool:
        """End the holder when it is a worker that is stopped, or whose lease is over meanwhile.

        Nobody can write that it is lost before it is gone, so it is ended first; its death is
        then found like any other. True when somebody was ended: until then nobody could renew.
        """
        if connection.vendor != "sqlite":
            return False
        with connection.cursor() as cursor:
            cursor.execute(WAITS_AT_MOST)
        pid, now = writer.holder(), time.monotonic()
        if pid != self._pid:
            self._pid, self._since = pid, now
        if pid is None or now == self._since:
            return False
        for worker in workers_to_look_at(others_take_within=timedelta(0)):
            if worker.identity.pid == pid and self._is_stuck(worker, here=here, now=now):
                log.error("worker.holds_the_write_lock", extra={"worker": str(worker.id)})
                return end_process(worker.identity)
        return False

    def _is_stuck(self, worker: SeenWorker, *, here: ProcessIdentity, now: float) -> bool:
        life = identity.life_of(worker.identity, seen_from=here)
        stopped = life == "stopped" and now - self._since >= STOPPED_FOR
        return stopped or (life in ("alive", "stopped") and worker.lease_is_over)
