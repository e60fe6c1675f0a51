"""The couriers of channels: started when their channel has something to deliver, ended when it hangs (R32)."""

import ctypes
import logging
import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from typing import Any

from django.db import Error, connections

from runs.dispatch.tethered import tether
from runs.engine import courier
from runs.queries import channels

log = logging.getLogger(__name__)

LOOK_EVERY = 0.5
# The look for what is due may wait for the database, but not for ever.
LOOK_WITHIN = 60.0
# Whoever has been at one delivery for this long takes no place of others, up to MOST_OF_ALL.
MOST_AT_ONCE, LINGERS_AFTER, MOST_OF_ALL = 16, 2.0, 32
# So many of the channels whose last delivery failed are tried at once, in turn.
FAILING_AT_ONCE = 4

FORK = get_context("fork")


@dataclass(slots=True)
class Child:
    """One courier: its process, and when it has to be heard of again."""

    process: BaseProcess
    deadline: Any

    @property
    def is_idle(self) -> bool:
        return not self.deadline.value

    @property
    def lingers(self) -> bool:
        began = self.deadline.value - courier.DELIVERY_LIMIT
        return not self.is_idle and time.monotonic() - began > LINGERS_AFTER


class ChannelCouriers:
    """One process a channel, so that a slow receiver delays nobody but itself."""

    def __init__(self) -> None:
        self.children: dict[str, Child] = {}

    def run(self, *, stopped: Callable[[], bool], must_end: Callable[[float | None], None]) -> None:
        while not stopped():
            must_end(LOOK_WITHIN)
            self.look()
            time.sleep(LOOK_EVERY)
        self._end_all()

    def look(self) -> None:
        """Bury what has ended, end what hangs, start what is due: first what is well."""
        self._bury()
        try:
            due, failing = channels.lanes_due(), channels.failing_lanes()
        except Error as error:
            log.warning("couriers.database_away", extra={"error": str(error)})
            due, failing = [], []
        # A fork must not inherit a connection: two processes would talk over each other on it.
        connections.close_all()
        waiting = [lane for lane in due if lane not in self.children]
        well = [lane for lane in waiting if lane not in failing]
        places = FAILING_AT_ONCE - sum(lane in failing for lane in self.children)
        for lane in [*well, *[lane for lane in failing if lane in waiting][: max(places, 0)]]:
            if self._has_room():
                self._start(lane)
        if any(lane not in self.children for lane in waiting):
            self._make_room(due, failing)

    def _has_room(self) -> bool:
        quick = sum(not child.lingers for child in self.children.values())
        return quick < MOST_AT_ONCE and len(self.children) < MOST_OF_ALL

    def _make_room(self, due: list[str], failing: list[str]) -> None:
        """Who fails, or has nothing to do, ends behind what it is at, and others have its place."""
        for lane, child in self.children.items():
            if lane in failing or (child.is_idle and lane not in due):
                child.process.terminate()

    def _bury(self) -> None:
        now = time.monotonic()
        for lane, child in list(self.children.items()):
            if child.process.is_alive() and 0 < child.deadline.value < now:
                log.error("courier.hangs", extra={"lane": lane})
                child.process.kill()
                child.process.join()
            if not child.process.is_alive():
                child.process.join()
                del self.children[lane]

    def _start(self, lane: str) -> None:
        deadline = FORK.Value(ctypes.c_double, 0.0, lock=False)
        process = FORK.Process(target=_child, args=(lane, deadline), name=lane, daemon=True)
        process.start()
        self.children[lane] = Child(process=process, deadline=deadline)

    def _end_all(self) -> None:
        for child in self.children.values():
            child.process.terminate()
        until = time.monotonic() + 2
        for child in self.children.values():
            child.process.join(max(until - time.monotonic(), 0.0))
            if child.process.is_alive():
                child.process.kill()
                child.process.join()


def _child(lane: str, deadline: Any) -> None:
    tether()
    stopping = [False]

    def stop(*_: object) -> None:
        stopping[0] = True

    def must_end(within: float | None) -> None:
        deadline.value = 0.0 if within is None else time.monotonic() + within

    signal.signal(signal.SIGTERM, stop)
    parent = os.getppid()
    courier.run_lane(
        lane,
        stopped=lambda: stopping[0] or os.getppid() != parent,
        must_end=must_end,
        idle_for=courier.IDLE_FOR,
    )
