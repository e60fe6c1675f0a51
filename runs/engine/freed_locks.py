"""Whose session is gone, seen from any host: its lock was free at two looks (R24)."""

import time
from collections.abc import Iterable
from typing import TYPE_CHECKING
from uuid import UUID

from runs.conf import conf
from runs.queries.locks import held_locks, server_started
from runs.queries.workers import SeenWorker

if TYPE_CHECKING:
    from datetime import datetime

# A lock has to be free twice, so far apart: a session may just be making its connection anew.
TWICE_WITHIN = 0.5


class FreedLocks:
    """What was seen of the workers' locks in the passes before this one.

    A held lock says nothing: it never overrides a lease that is over.
    """

    def __init__(self) -> None:
        self._started: datetime | None = None
        self._free_since: dict[UUID, float] = {}
        self._not_before = 0.0

    def server_restarted(self) -> bool:
        """Whether the server is another one than at the last pass: then every lock went at once."""
        before, self._started = self._started, server_started()
        return before is not None and self._started != before

    def distrust(self) -> None:
        """After an outage whoever lives takes its lock again within one lease (R25)."""
        self._free_since.clear()
        self._not_before = time.monotonic() + conf().lease.total_seconds()

    def look(self, workers: Iterable[SeenWorker]) -> set[UUID]:
        """Workers that had a lock and have lost it for good."""
        locked = {worker.id: worker.lock_key for worker in workers if worker.lock_key is not None}
        now = time.monotonic()
        if not locked or now < self._not_before:
            self._free_since.clear()
            return set()
        held = held_locks()
        free = [worker_id for worker_id, key in locked.items() if key not in held]
        self._free_since = {each: self._free_since.get(each, now) for each in free}
        return {each for each, since in self._free_since.items() if now - since >= TWICE_WITHIN}
