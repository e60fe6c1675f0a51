"""The lock that a worker's own session holds: the server frees it when the worker dies (R24)."""

import logging
from uuid import UUID

from django.db import connection

from runs.ledger import workers
from runs.queries.locks import holds_here
from runs.rules.identity import lock_key

log = logging.getLogger(__name__)


class SessionLock:
    """Held by the lease keeper's connection, taken anew when that had to be made anew.

    A session that was not interrupted and does not hold it is not one session but several:
    a pooler stands between. Then nobody may read anything from the lock, and it is given up.
    """

    def __init__(self, worker_id: UUID) -> None:
        self.worker_id, self.key = worker_id, lock_key(worker_id)
        self._held_on: object = None
        self._given_up = False

    def keep(self) -> None:
        """Take the lock, or see to it that it is still held. Raises what the database raises."""
        if connection.vendor != "postgresql" or self._given_up:
            return
        connection.ensure_connection()
        session = connection.connection
        if self._held_on is session:
            if not holds_here(self.key):
                self._give_up()
            return
        if workers.hold_lock(self.worker_id, self.key):
            self._held_on = session

    def _give_up(self) -> None:
        self._given_up = True
        workers.forget_lock(self.worker_id)
        log.warning("lease.no_session_of_its_own", extra={"worker": str(self.worker_id)})
