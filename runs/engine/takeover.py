"""Find lost workers and take their work away from them: by their process, or by their lease."""

import contextlib
import logging
import os
import signal
import time
from datetime import timedelta
from uuid import UUID

from runs.dispatch import groups
from runs.engine import identity
from runs.engine.freed_locks import FreedLocks
from runs.ledger import takeover, workers
from runs.queries.workers import SeenWorker, workers_to_look_at
from runs.rules.identity import ProcessIdentity
from runs.rules.states import WorkerState

log = logging.getLogger(__name__)

DEATH_WITHIN = 5.0
# Another watch may be waiting for the death of a process it has killed.
OTHERS_TAKE_WITHIN = timedelta(seconds=2 * DEATH_WITHIN)


def take_over_lost(
    *, seen_from: ProcessIdentity, leases_count: bool, locks: FreedLocks | None = None
) -> int:
    """Look at every worker once; how many were lost. Leases do not count after an outage.

    `locks` remembers from pass to pass whose session is gone; only of workers that cannot be
    seen from here does that say more than their process does.
    """
    seen = workers_to_look_at(others_take_within=OTHERS_TAKE_WITHIN)
    elsewhere = [each for each in seen if not each.identity.on_the_machine_of(seen_from)]
    cut_off = locks.look(elsewhere) if locks is not None else set()
    return sum(
        _look_at(
            worker,
            seen_from=seen_from,
            leases_count=leases_count,
            is_cut_off=worker.id in cut_off,
        )
        for worker in seen
    )


def _look_at(
    worker: SeenWorker, *, seen_from: ProcessIdentity, leases_count: bool, is_cut_off: bool
) -> bool:
    life = identity.life_of(worker.identity, seen_from=seen_from)
    if worker.state is not WorkerState.LIVE:
        # Declared lost by somebody who did not come to the end, or gone with a run in its hands.
        take_from(worker, life=life, because=worker.end_reason)
        return True
    if life == "dead":
        because, only_if_expired = "its process is gone", False
    elif life == "elsewhere" and is_cut_off:
        because, only_if_expired = "its session at the database is gone", False
    elif leases_count and worker.lease_is_over:
        alive = "" if life == "elsewhere" else f" and its process is {life}"
        because, only_if_expired = f"its lease is over{alive}", True
    else:
        return False
    if not workers.declare_lost(worker.id, because=because, only_if_expired=only_if_expired):
        return False
    take_from(worker, life=life, because=because)
    return True


def take_from(worker: SeenWorker, *, life: identity.Life, because: str) -> list[UUID] | None:
    """On this machine a lease alone takes nothing: fence, kill, wait for death, place (R22).

    The runs that were taken; None while its process will not die.
    """
    # Its open transaction would hold the rows that are needed next (R19).
    workers.end_sessions(worker.id)
    if worker.state is not WorkerState.ENDED:
        if life in ("alive", "stopped"):
            takeover.raise_fences(worker.id, because=because)
        if life != "elsewhere":
            if life != "dead" and not end_process(worker.identity):
                # It may still do what its body does; the next pass looks again.
                log.error("worker.will_not_die", extra={"worker": str(worker.id)})
                return None
            _end_group(worker.identity)
            workers.prove_dead(worker.id)
    taken = takeover.take_over(worker.id, because=because, crashed=not worker.draining)
    told = {"worker": str(worker.id), "because": because, "life": life, "runs": len(taken)}
    log.warning("worker.lost", extra=told)
    return taken


def _end_group(process: ProcessIdentity) -> None:
    """What a step has started may still send; it goes before anybody says that nobody does (R27)."""
    groups.end(groups.Identity(pid=process.pid, started=int(process.started)))


def end_process(process: ProcessIdentity) -> bool:
    """Kill a worker with its process group and wait for its death; whether it is proven.

    The pidfd is opened before the identity is checked, so the pid cannot be used again between.
    """
    if process.pid == os.getpid():
        return False
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
