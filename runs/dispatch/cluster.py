"""A cluster that cannot freeze, leaves nobody behind, and stops when it is told to: crash-only."""

import logging
import os
import signal
import time
from typing import TYPE_CHECKING

from django.db import connections

from runs.dispatch import drain, groups
from runs.dispatch.backlog import Backlog
from runs.dispatch.pool import STOPPING
from runs.dispatch.pulse import Pulse
from runs.dispatch.sentinel import CRASHED, be_sentinel, fork

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess

CRASH_GRACE = 10.0  # seconds for busy workers to reach a checkpoint before a crash-only exit
STUCK = CRASH_GRACE + 5  # seconds without a look of the sentinel at its pool
TICK = 0.1

log = logging.getLogger(__name__)


def run(*, workers: int, grace: float) -> int:
    """Run one cluster until it is told to stop or may not go on; answer the exit code."""
    groups.name_process(groups.MAIN)
    if swept := groups.sweep():
        log.warning("cluster.swept", extra={"processes": swept})
    asked = _note_signals()
    main = Main(workers=workers, grace=grace)
    main.start()
    reason = main.watch(asked)
    return main.stop(asked) if reason is None else main.crash(reason)


def _note_signals() -> list[int]:
    """Collect what asks to stop; a handler only takes note, so it can never deadlock."""
    asked: list[int] = []
    for number in STOPPING:
        signal.signal(number, lambda caught, _frame: asked.append(caught))
    return asked


class Main:
    """The process that everybody signals; it forks once, before it touches the database."""

    def __init__(self, *, workers: int, grace: float) -> None:
        self.grace, self.crash_grace = grace, min(grace, CRASH_GRACE)
        self.pulse = Pulse(workers=workers)
        self.backlog = Backlog(self.pulse)
        self.sentinel: BaseProcess = fork.Process(
            target=be_sentinel,
            args=(os.getpid(), self.pulse),
            kwargs={"workers": workers, "grace": self.crash_grace},
            daemon=False,
        )

    def start(self) -> None:
        connections.close_all()
        # No signal may reach the sentinel before it has its own handlers; it lifts the mask itself.
        signal.pthread_sigmask(signal.SIG_BLOCK, STOPPING)
        self.sentinel.start()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPPING)
        self.backlog.start()

    def watch(self, asked: list[int]) -> str | None:
        """Look until somebody asks to stop (None) or the cluster may not go on (why)."""
        beats, stuck, last = 0, 0.0, time.monotonic()
        while not asked:
            self.sentinel.join(TICK)
            now = time.monotonic()
            # A second at most: whoever was stopped meanwhile, as on a suspended machine, saw nothing.
            stuck = stuck + min(now - last, 1.0) if beats == self.pulse.board.beats else 0.0
            beats, last = self.pulse.board.beats, now
            if not self.sentinel.is_alive():
                return "the sentinel has ended"
            if stuck > STUCK:
                return "the sentinel does not look at its pool"
            if self.backlog.frozen:
                return "placed work is not taken although a worker is idle"
        return None

    def stop(self, asked: list[int]) -> int:
        """Let everybody finish; who does not within the grace, or at a second signal, is killed."""
        log.info("cluster.stopping")
        drain.request()
        self.pulse.board.stopping = True
        deadline = time.monotonic() + self.grace
        while self.sentinel.is_alive() and time.monotonic() < deadline and len(asked) < 2:
            self.sentinel.join(TICK)
        clean = self.sentinel.exitcode == 0
        self._leave_nothing()
        log.info("cluster.stopped", extra={"clean": clean})
        return 0 if clean else CRASHED

    def crash(self, reason: str) -> int:
        """End everything, after whoever works has had time to reach a checkpoint."""
        log.critical("cluster.crashing", extra={"reason": reason})
        drain.request()
        if self.sentinel.is_alive():
            self.pulse.rush(seconds=self.crash_grace)
        self._leave_nothing()
        return CRASHED

    def _leave_nothing(self) -> None:
        self.sentinel.kill()
        self.sentinel.join(groups.PATIENCE)
        for seat in self.pulse.taken():
            groups.end(seat.worker)
