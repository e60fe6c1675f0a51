"""One worker process: enlisted, leased, draining placed assignments."""

import logging
import os
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Any
from uuid import UUID

import uuid6
from django.db import Error, close_old_connections, connection
from django.db.backends.signals import connection_created

from runs.conf import conf
from runs.definition import registry
from runs.engine import drill_rehearsal, identity
from runs.engine.away import AWAY, is_away
from runs.engine.executor import execute
from runs.engine.heartbeats import Heartbeats
from runs.engine.lease_keeper import LeaseKeeper
from runs.engine.session import Following
from runs.engine.versions import Caretaker, code_here
from runs.ledger import assignments, lifecycle, takeover, workers
from runs.queries import resume
from runs.queries.workers import is_live
from runs.rules.claims import Claimed
from runs.rules.fence import Fence, FenceLost
from runs.rules.plan import BrokenWorkflow, plan_of

log = logging.getLogger(__name__)

DATABASE_RETRY = 0.5


class Worker:
    """This process as a worker: its incarnation and its lease."""

    def __init__(self, *, on_lost: Callable[[], None]) -> None:
        self.id, self.pid = UUID(int=uuid6.uuid7().int), os.getpid()
        self.keeper = LeaseKeeper(self.id, on_lost=on_lost)
        every = conf().beat_every.total_seconds()
        self.beats = Heartbeats("worker", str(self.id), every=every) if every else None
        self.plans, self.caretaker = known_plans(), Caretaker(code_here())

    def enlist(self) -> None:
        if drill_rehearsal.told():
            drill_rehearsal.arm()
        # Every connection of this process, now and after an outage, says whose it is.
        connection_created.connect(self._name_session)
        if connection.connection is not None:
            workers.name_session(self.id)
        workers.enlist(
            self.id,
            identity.of_this_process(),
            cluster_pid=os.getppid(),
            release=conf().release,
            plans=list(self.caretaker.code.plans.values()),
        )
        self.keeper.start()
        if self.beats is not None:
            self.beats.start()

    def retire(self, *, because: str) -> None:
        self.leave()
        workers.retire(self.id, because=because)

    def leave(self) -> None:
        """Keep the lease no longer, and say nothing: what a process does that dies."""
        self.keeper.stop()
        if self.beats is not None:
            self.beats.stop()
        connection_created.disconnect(self._name_session)

    def _name_session(self, **_: Any) -> None:
        if os.getpid() == self.pid:
            workers.name_session(self.id)

    def drain_placed(self, *, until: float, stop: Callable[[], bool]) -> bool:
        """Work on placed assignments until none is left; False when stopped before that."""

        def boundary() -> str:
            if stop():
                return "the worker is shutting down"
            if time.monotonic() > until and resume.other_work_waits():
                return "others are waiting too"
            return ""

        def goes_on() -> bool:
            return not stop() and time.monotonic() < until

        following = Following(
            plans=self.plans, is_wanted=lambda: goes_on() and not self.caretaker.is_due()
        )
        while following.taken or goes_on():
            if (claimed := following.take() or self._claim(stop)) is None:
                return True
            self._work_on(claimed, boundary, following)
            if following.found_none:
                return True
        return False

    def _work_on(self, claimed: Claimed, boundary: Callable[[], str], following: Following) -> None:
        try:
            with self._beating(claimed):
                kept = execute(
                    claimed, keeper=self.keeper, stop_at_boundary=boundary, following=following
                )
            if not kept:
                self._end_if_replaced()
        except AWAY as error:
            self._give_back(claimed.fence, error)
        except Exception:
            log.exception("engine.failed", extra={"run": str(claimed.fence.run_id)})
            self._let_go()
            raise

    def _beating(self, claimed: Claimed) -> AbstractContextManager[None]:
        if self.beats is None:
            return nullcontext()
        declared = registry.get(claimed.workflow, claimed.version).heartbeat
        return self.beats.of(claimed.fence, declared.every.total_seconds() if declared else None)

    def _end_if_replaced(self) -> None:
        """Its run is somebody else's. A worker that was declared lost ends; nothing of it is wanted."""
        if not is_live(self.id):
            log.error("worker.replaced", extra={"worker": str(self.id)})
            self.keeper.on_lost()

    def _let_go(self) -> None:
        """The engine itself failed: no run may stay in the hands of a worker that lives on (I11)."""
        try:
            takeover.take_over(self.id, because="the engine failed", crashed=True)
        except Exception:
            log.exception("worker.ends", extra={"worker": str(self.id)})
            self.keeper.on_lost()

    def _claim(self, stop: Callable[[], bool]) -> Claimed | None:
        self.caretaker.look_when_due()
        try:
            return assignments.claim(worker_id=self.id, plans=self.plans)
        except AWAY as error:
            log.warning("worker.claim_in_doubt", extra={"error": str(error)})
        # It may have been committed, and the answer lost: what is held unknowingly is placed again.
        self._until_the_database_is_back(self._let_go_of_unanswered, stop=stop)
        return None

    def _let_go_of_unanswered(self) -> None:
        # What a worker held that was declared lost is for the watch, when its death is proven (R22).
        if is_live(self.id):
            takeover.take_over(self.id, because="its claim was not answered", crashed=False)

    def _give_back(self, fence: Fence, error: Exception) -> None:
        """The database went away in the middle: give the run back as soon as it is there again.

        Until then the run stays in these hands, so this must not end before it has succeeded.
        """
        log.warning(
            "run.database_away",
            extra={"run": str(fence.run_id), "fence": fence.number, "error": str(error)},
        )
        with suppress(FenceLost):
            self._until_the_database_is_back(
                lambda: lifecycle.hand_back(fence, because="the database was away", entered=True)
            )
        # What was not answered may have been the end of this run, and have taken another one.
        self._until_the_database_is_back(self._let_go_of_unanswered)

    def _until_the_database_is_back(
        self, write: Callable[[], object], *, stop: Callable[[], bool] = lambda: False
    ) -> None:
        while not (self.keeper.lost or stop()):
            try:
                connection.close()
                write()
            except Error as error:
                if not is_away(error):
                    raise
                time.sleep(DATABASE_RETRY)
            else:
                return


def known_plans() -> list[str]:
    """Hashes of the plans that this process's code can execute (I9)."""
    hashes = []
    for cls in registry.all_workflows():
        try:
            hashes.append(plan_of(cls).hash)
        except BrokenWorkflow as broken:
            log.error("workflow.broken", extra={"error": str(broken)})
    return hashes


_this: Worker | None = None
_this_pid = 0


def enlist() -> Worker | None:
    """Make this process a worker, once; never raises, since a pool worker must not die of it."""
    global _this, _this_pid
    if _this is not None and _this_pid == os.getpid() and not _this.keeper.lost:
        return _this
    try:
        close_old_connections()
        worker = Worker(on_lost=_end_at_once)
        worker.enlist()
        worker.caretaker.look_at_start()
    except Error as error:
        log.warning("worker.not_enlisted", extra={"error": str(error)})
        return None
    _this, _this_pid = worker, os.getpid()
    return worker


def delist() -> None:
    """This worker ends by itself."""
    if _this is not None and _this_pid == os.getpid():
        try:
            _this.retire(because="ended")
        except Error as error:
            log.warning("worker.not_retired", extra={"error": str(error)})


def work(*, stop: Callable[[], bool]) -> bool:
    """What a doorbell runs; False when placed work may be left."""
    worker = enlist()
    if worker is None:
        return True
    try:
        until = time.monotonic() + conf().slice.total_seconds()
        return worker.drain_placed(until=until, stop=stop)
    except Error as error:
        # Nothing is lost: what was not committed is done again by whoever claims the run.
        log.warning("worker.database_away", extra={"error": str(error)})
        return True


def _end_at_once() -> None:
    """Declared lost: whatever this process would still write or send is unwanted (R27)."""
    os.kill(os.getpid(), 9)
