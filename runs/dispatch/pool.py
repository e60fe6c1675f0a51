"""The life of the cluster's children: what each does first and last around django-q2's own loops."""

import logging
import os
import signal
from collections.abc import Callable
from typing import Any

from django.db import connections
from django_q.monitor import monitor
from django_q.pusher import pusher
from django_q.worker import worker

from runs.dispatch import groups, hooks
from runs.dispatch.pulse import Pulse, Seat, at_work

STOPPING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
Target = Callable[..., None]

log = logging.getLogger(__name__)


def turn_deaf() -> None:
    """Only main hears a request to stop; it reaches the others through shared memory.

    A handler that does nothing, not SIG_IGN: what a step starts would inherit that and could not be
    stopped by its own parent.
    """
    for number in STOPPING:
        signal.signal(number, _hear_nothing)


def _hear_nothing(_number: int, _frame: object) -> None:
    pass


def be_worker(parent: int, pulse: Pulse, seat: Seat, *queue_args: Any) -> None:
    """Run doorbells until told to stop, in a process group of its own."""
    _begin(parent, groups.WORKER)
    groups.lead()
    pulse.take(seat)
    _tell("enlist")
    try:
        worker(*queue_args)
    finally:
        _tell("delist")
        connections.close_all()


def answer(*args: int) -> None:
    """What every doorbell runs: work, if there is any; nothing is answered, nothing raised."""
    with at_work():
        try:
            hooks.call("work", *args)
        except Exception:
            log.exception("worker.failed", extra={"pid": os.getpid()})


def be_pusher(parent: int, *args: Any) -> None:
    """Hear doorbells and hand them to the workers."""
    _begin(parent, "mp-pusher")
    pusher(*args)


def be_monitor(parent: int, *args: Any) -> None:
    """Take away what workers answer; nothing is saved."""
    _begin(parent, "mp-monitor")
    monitor(*args)


def _begin(parent: int, name: str) -> None:
    signal.signal(signal.SIGUSR1, signal.SIG_DFL)
    groups.die_with_parent(parent)
    groups.name_process(name)


def _tell(hook: str) -> None:
    try:
        hooks.call(hook)
    except Exception:
        # A worker that could not be written down still works: what it claims enlists it again.
        log.exception("worker.hook_failed", extra={"hook": hook, "pid": os.getpid()})
