"""Find lost workers and take their work away from them: by their process, or by their lease."""

import contextlib
import logging
import os
import signal
import time
from datetime import timedelta

from runs.engine import identity
from runs.ledger import takeover, workers
from runs.queries.workers import LiveWorker, gone_with_runs, live_workers
from runs.rules.identity import ProcessIdentity

log = logging.getLogger(__name__)

DEATH_WITHIN = 5.0
# Another watch may be waiting for the death of a process it has killed.
OTHERS_TAKE_OVER_WITHIN = timedelta(seconds=2 * DEATH_WITHIN)


def take_over_lost(*, seen_from: ProcessIdentity, leases_count: bool) -> int:
    """Look at every live worker once; how many were lost. Leases do not count after an outage."""
    left = gone_with_runs(for_longer_than=OTHERS_TAKE_OVER_WITHIN)
    for worker in left:
        _take_rest(worker, seen_from=seen_from)
    return len(left) + sum(
        _look_at(worker, seen_from=seen_from, leases_count=leases_count)
        for worker in live_workers()
    )


def _take_rest(worker: LiveWorker, *, seen_from: ProcessIdentity) -> None:
    """Whoever declared this worker gone has not come to take its runs: do the rest of it."""
    because = "its takeover was left half done"
    if identity.life_of(worker.identity, seen_from=seen_from) != "elsewhere":
        takeover.raise_fences(worker.id, because=because)
        if end_process(worker.identity):
            workers.prove_dead(worker.id)
    takeover.take_over(worker.id, because=because, crashed=not worker.draining)
    log.warning("worker.rest_taken", extra={"worker": str(worker.id)})


def _look_at(worker: LiveWorker, *, seen_from: ProcessIdentity, leases_count: bool) -> bool:
    life = identity.life_of(worker.identity, seen_from=seen_from)
    if life == "dead":
        return _lost(worker, because="its process is gone", proven=True, only_if_expired=False)
    if not (leases_count and worker.lease_is_over):
        return False
    if life == "elsewhere":
        return _lost(worker, because="its lease is over", proven=False, only_if_expired=True)
    return _end_and_take(worker, life=life)


def _lost(worker: LiveWorker, *, because: str, proven: bool, only_if_expired: bool) -> bool:
    if not workers.declare_lost(worker.id, because=because, only_if_expired=only_if_expired):
        return False
    if proven:
        workers.prove_dead(worker.id)
    taken = takeover.take_over(worker.id, because=because, crashed=not worker.draining)
    log.warning(
        "worker.lost",
        extra={"worker": str(worker.id), "because": because, "runs": len(taken)},
    )
    return True


def _end_and_take(worker: LiveWorker, *, life: str) -> bool:
    """On this machine a lease alone takes nothing: fence, kill, wait for death, place (R22)."""
    because = f"its lease is over and its process is {life}"
    if not workers.declare_lost(worker.id, because=because, only_if_expired=True):
        return False
    takeover.raise_fences(worker.id, because=because)
    proven = end_process(worker.identity)
    if proven:
        workers.prove_dead(worker.id)
    takeover.take_over(worker.id, because=because, crashed=not worker.draining)
    log.warning("worker.ended", extra={"worker": str(worker.id), "because": because})
    return True


def end_process(process: ProcessIdentity) -> bool:
    """Kill a worker with its process group and wait for its death; whether it is proven.

    The pidfd is opened before the identity is checked, so the pid cannot be used again between.
    """
    with contextlib.suppress(ProcessLookupError, PermissionError):
        handle = os.pidfd_open(process.pid)
        try:
            if identity.life_of(process, seen_from=identity.of_this_process()) != "dead":
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    if os.getpgid(process.pid) == process.pid:
                        os.killpg(process.pid, signal.SIGKILL)
                signal.pidfd_send_signal(handle, signal.SIGKILL)
        finally:
            os.close(handle)
    return _dies(process)


def _dies(process: ProcessIdentity) -> bool:
    until = time.monotonic() + DEATH_WITHIN
    here = identity.of_this_process()
    while identity.life_of(process, seen_from=here) != "dead":
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True
