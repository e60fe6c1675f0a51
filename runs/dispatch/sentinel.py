"""Who watches over the pool: replaces what may be replaced, else ends the cluster."""

import logging
import os
import signal
import time
from multiprocessing import connection, get_context
from multiprocessing.process import BaseProcess
from typing import Any, NoReturn
from uuid import uuid4

from django.db import connections
from django_q import cluster

from runs.dispatch import drain, groups
from runs.dispatch.pool import STOPPING, Target, be_monitor, be_pusher, be_worker, turn_deaf
from runs.dispatch.pulse import Pulse, Seat

CRASHED = 70  # what a supervisor sees, and restarts
LOOK = 0.1  # seconds between two looks when nothing happens
PAUSE = 0.2  # before a worker that died at once is replaced

log = logging.getLogger(__name__)
fork = get_context("fork")


def be_sentinel(main: int, pulse: Pulse, *, workers: int, grace: float) -> None:
    """Guard one pool until main says stop, and take all of it along when main dies."""
    sentinel = Sentinel(pulse, workers=workers, grace=grace)
    turn_deaf()
    signal.signal(signal.SIGUSR1, lambda *_: sentinel.abandon())
    signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPPING)
    groups.die_with_parent(main, signal.SIGUSR1)
    groups.name_process(groups.SENTINEL)
    try:
        sentinel.start()
    except Exception:
        # Leaving by the front door would wait for the children.
        log.exception("cluster.crashing")
        sentinel.abandon()


class Sentinel(cluster.Sentinel):
    """django-q2's sentinel with a guard of its own.

    A process that dies by force may hold a lock of the queues, and every other process would wait
    for it for ever. So only a worker that was at work is replaced; any other death ends the cluster.
    """

    def __init__(self, pulse: Pulse, *, workers: int, grace: float) -> None:
        super().__init__(fork.Event(), fork.Event(), uuid4(), start=False)
        self.pulse, self.pool_size, self.grace = pulse, workers, grace

    def guard(self) -> None:
        self.start_event.set()
        log.info("cluster.running", extra={"workers": self.pool_size})
        while not self.pulse.board.stopping:
            self._look()
            self.pulse.board.beats += 1
            everybody = [*self.pool, self.monitor, self.pusher]
            connection.wait([process.sentinel for process in everybody], timeout=LOOK)
        self.stop_event.set()
        self.stop()

    def spawn_worker(self) -> None:
        seat, timer = self.pulse.free_seat(), fork.Value("f", -1)
        queues = (self.task_queue, self.result_queue, timer, self.timeout)
        process = self._spawn(be_worker, self.pulse, seat, *queues)
        process.seat, process.timer, process.since = seat, timer, time.monotonic()
        self.pool.append(process)
        if who := groups.identity_of(process.pid):
            seat.sit(who)

    def spawn_pusher(self) -> BaseProcess:
        pusher: BaseProcess = self._spawn(be_pusher, self.task_queue, self.event_out, self.broker)
        return pusher

    def spawn_monitor(self) -> BaseProcess:
        monitor: BaseProcess = self._spawn(be_monitor, self.result_queue, self.broker)
        return monitor

    def _spawn(self, target: Target, *args: Any) -> Any:
        # Not daemons: a step may use multiprocessing; what it starts is in the worker's group.
        process = fork.Process(target=target, args=(os.getpid(), *args), daemon=False)
        connections.close_all()
        process.start()
        return process

    def abandon(self) -> NoReturn:
        """Main is dead: leave nothing behind."""
        self._end_pool()
        os._exit(CRASHED)

    def _look(self) -> None:
        for process in list(self.pool):
            if _has_ended(process.pid):
                self._bury(process)
            elif self._is_overdue(process.seat):
                log.error("worker.overdue", extra={"pid": process.pid})
                groups.end(process.seat.worker)
        for process in (self.monitor, self.pusher):
            if not process.is_alive():
                self._replace(process)

    def _is_overdue(self, seat: Seat) -> bool:
        now = time.monotonic()
        too_long = seat.busy and now > seat.busy_since + self.timeout + 3
        return too_long or 0 < seat.until < now

    def _bury(self, process: Any) -> None:
        seat, was_busy = process.seat, process.seat.busy
        # Before the zombie is reaped: until then nobody else can have its number.
        groups.end(groups.Identity(pid=process.pid, started=seat.started))
        process.join()
        forced = process.exitcode not in (0, 1)
        if forced and not (was_busy and self._queues_are_free()):
            self._crash(process, "worker")
        if process.exitcode != 0:
            log.error("worker.died", extra={"pid": process.pid, "code": process.exitcode})
            time.sleep(PAUSE if time.monotonic() - process.since < 1 else 0)
        self.pool.remove(process)
        seat.leave()
        self.spawn_worker()

    def _replace(self, process: BaseProcess) -> None:
        role = "monitor" if process is self.monitor else "pusher"
        if process.exitcode not in (0, 1):
            self._crash(process, role)
        log.error("cluster.replaced", extra={"role": role, "code": process.exitcode})
        setattr(self, role, self.spawn_monitor() if role == "monitor" else self.spawn_pusher())

    def _queues_are_free(self) -> bool:
        """A worker killed while its feeder thread wrote an answer may have taken a lock along."""
        counters = (self.result_queue.size.count, self.task_queue.size.count)
        for lock in (self.result_queue._wlock, *(count.get_lock() for count in counters)):
            if not lock.acquire(timeout=1):
                return False
            lock.release()
        return True

    def _crash(self, process: BaseProcess, role: str) -> NoReturn:
        """End the cluster, after whoever works has had time to reach a checkpoint."""
        told = {"role": role, "pid": process.pid, "code": process.exitcode}
        log.critical("cluster.crashing", extra=told)
        drain.request()
        self.pulse.rush(seconds=self.grace)
        self._end_pool()
        os._exit(CRASHED)

    def _end_pool(self) -> None:
        for seat in self.pulse.taken():
            groups.end(seat.worker)


def _has_ended(pid: int) -> bool:
    """Dead, and best not reaped yet; asking `is_alive` would reap it."""
    try:
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:  # starting another process reaps whoever has died until then
        return True
