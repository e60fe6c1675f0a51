"""Keeps a worker's lease, and does nothing else (R23)."""

import logging
import threading
import time
from collections.abc import Callable
from uuid import UUID

import psutil
from django.db import Error, connection

from runs.conf import conf
from runs.dispatch import drain
from runs.engine.session_lock import SessionLock
from runs.ledger import workers

log = logging.getLogger(__name__)

# A worker stops trusting its lease before the database does.
TRUSTED_SHARE = 0.8
RETRY_AFTER = 0.5
SHORT_LOCKS = "SET lock_timeout = '2s'"
LOOK_EVERY = 0.25


class LeaseKeeper(threading.Thread):
    """Renews one worker's row from a thread with a connection of its own."""

    def __init__(self, worker_id: UUID, *, on_lost: Callable[[], None]) -> None:
        super().__init__(name="lease-keeper", daemon=True)
        self.worker_id, self.on_lost = worker_id, on_lost
        self._stopped = threading.Event()
        self._lock = SessionLock(worker_id)
        self._trusted_until = _now() + conf().lease.total_seconds() * TRUSTED_SHARE
        self.lost = self._draining = False

    def trusts_its_lease(self) -> bool:
        """Whether this worker may still let a call leave (R1)."""
        return not self.lost and _now() < self._trusted_until

    def wait_until_trusted(self) -> bool:
        """Wait for the next renewal to be answered; False when the lease is lost."""
        while not self.lost and not self.trusts_its_lease():
            self._stopped.wait(RETRY_AFTER / 5)
            if self._stopped.is_set():
                return False
        return not self.lost

    def stop(self) -> None:
        self._stopped.set()

    def run(self) -> None:
        due = time.monotonic() + conf().renew_every.total_seconds()
        self._keep_lock()
        while not self._stopped.wait(LOOK_EVERY):
            if drain.requested() and not self._draining:
                self._say_that_it_drains()
            if time.monotonic() >= due:
                due = time.monotonic() + self._renew_once()
        connection.close()

    def _say_that_it_drains(self) -> None:
        """A worker that is told to end, and is killed because its step takes too long, has not crashed (R28)."""
        try:
            _wait_briefly_for_locks()
            workers.drain(self.worker_id)
        except Error as error:
            log.warning("lease.drain_not_noted", extra={"error": str(error)})
            connection.close()
        else:
            self._draining = True

    def _keep_lock(self) -> None:
        """From the first moment: a worker that dies young is found by it too."""
        try:
            _wait_briefly_for_locks()
            self._lock.keep()
        except Error as error:
            log.warning("lease.lock_not_taken", extra={"error": str(error)})
            connection.close()

    def _renew_once(self) -> float:
        asked_at = _now()
        try:
            _wait_briefly_for_locks()
            kept = workers.renew(self.worker_id, memory_kb=_memory_kb())
            self._lock.keep()
        except Error as error:
            log.warning(
                "lease.renewal_failed",
                extra={"worker": str(self.worker_id), "error": str(error)},
            )
            connection.close()
            return RETRY_AFTER
        if not kept:
            self.lost = True
            log.error("lease.lost", extra={"worker": str(self.worker_id)})
            self._stopped.set()
            self.on_lost()
        self._trusted_until = asked_at + conf().lease.total_seconds() * TRUSTED_SHARE
        return conf().renew_every.total_seconds()


def _wait_briefly_for_locks() -> None:
    briefly = "PRAGMA busy_timeout = 2000" if connection.vendor == "sqlite" else SHORT_LOCKS
    with connection.cursor() as cursor:
        cursor.execute(briefly)


def _memory_kb() -> int:
    return int(psutil.Process().memory_info().rss) // 1024


def _now() -> float:
    """A clock that goes on while the machine is suspended: a lease does not wait for it."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)
