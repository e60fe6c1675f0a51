"""The watch: a small parent whose children do the duties, so that none delays another (R32)."""

import ctypes
import logging
import multiprocessing
import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from typing import Any

from django.db import connections

from runs.dispatch.tethered import tether
from runs.engine import courier, duties, relay_courier
from runs.engine.channel_couriers import ChannelCouriers
from runs.engine.clockwork import Clockwork
from runs.engine.firing import Firing
from runs.engine.ordered import SELECTIONS, Ordered

log = logging.getLogger(__name__)

LOOK_EVERY = 0.1
FIRST_PAUSE = 0.2
LONGEST_PAUSE = 10.0
STOP_WITHIN = 5.0
# Who has worked for this long is well again: its next death is its first.
WELL_AFTER = 60.0

FORK = multiprocessing.get_context("fork")


@dataclass(slots=True)
class Duty:
    """One child: what it does, when it has to be heard of again, and how often it came back.

    A `parent` starts processes of its own, which the kernel ends with it.
    """

    name: str
    work: Callable[["Duty", Callable[[], bool]], None]
    deadline: Any
    parent: bool = False
    process: BaseProcess | None = None
    failures: int = 0
    start_at: float = 0.0

    def must_end(self, within: float | None) -> None:
        self.deadline.value = 0.0 if within is None else time.monotonic() + within


class Watch:
    """Keeps its children alive until it is told to stop."""

    def __init__(self) -> None:
        self.stopping = False
        self.duties = [
            self._duty("clockwork", _clockwork),
            self._duty("schedules", _schedules),
            self._duty(SELECTIONS.duty, _selections),
            self._duty("couriers of channels", _channels, parent=True),
            *(self._duty(f"courier {lane}", _courier(lane)) for lane in courier.LANES),
            *(self._duty(f"courier {lane}", _relay(lane)) for lane in relay_courier.lanes()),
            *(self._duty(name, _registered(run)) for name, run in duties.registered()),
        ]

    def run(self) -> None:
        """Work until SIGTERM or SIGINT, then end every child."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._stop)
        while not self.stopping:
            for duty in self.duties:
                self._look_after(duty)
            time.sleep(LOOK_EVERY)
        self._end_all()

    def _duty(
        self, name: str, work: Callable[[Duty, Callable[[], bool]], None], *, parent: bool = False
    ) -> Duty:
        deadline = FORK.Value(ctypes.c_double, 0.0, lock=False)
        return Duty(name=name, work=work, deadline=deadline, parent=parent)

    def _stop(self, *_: object) -> None:
        self.stopping = True

    def _look_after(self, duty: Duty) -> None:
        now = time.monotonic()
        if duty.process is None:
            if now >= duty.start_at:
                self._start(duty)
            return
        if duty.process.is_alive():
            if now - duty.start_at > WELL_AFTER:
                duty.failures = 0
            if 0 < duty.deadline.value < now:
                log.error("watch.duty_hangs", extra={"duty": duty.name})
                duty.process.kill()
            return
        duty.process.join()
        log.error("watch.duty_ended", extra={"duty": duty.name, "exit_code": duty.process.exitcode})
        duty.failures += 1
        duty.process = None
        duty.deadline.value = 0.0
        duty.start_at = now + min(FIRST_PAUSE * 2 ** min(duty.failures - 1, 10), LONGEST_PAUSE)

    def _start(self, duty: Duty) -> None:
        # A fork must not inherit a connection: two processes would talk over each other on it.
        connections.close_all()
        duty.process = FORK.Process(
            target=_child, args=(duty,), name=duty.name, daemon=not duty.parent
        )
        duty.process.start()

    def _end_all(self) -> None:
        children = [duty.process for duty in self.duties if duty.process is not None]
        for child in children:
            child.terminate()
        until = time.monotonic() + STOP_WITHIN
        for child in children:
            child.join(max(until - time.monotonic(), 0.0))
            if child.is_alive():
                child.kill()
                child.join()


def _child(duty: Duty) -> None:
    tether()
    stopping = [False]

    def stop(*_: object) -> None:
        stopping[0] = True

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = os.getppid()
    duty.work(duty, lambda: stopping[0] or os.getppid() != parent)


def _clockwork(_: Duty, stopped: Callable[[], bool]) -> None:
    Clockwork().run(stopped=stopped)


def _schedules(duty: Duty, stopped: Callable[[], bool]) -> None:
    Firing().run(stopped=stopped, must_end=duty.must_end)


def _selections(duty: Duty, stopped: Callable[[], bool]) -> None:
    Ordered(SELECTIONS).run(stopped=stopped, must_end=duty.must_end)


def _registered(run: duties.Run) -> Callable[[Duty, Callable[[], bool]], None]:
    def work(duty: Duty, stopped: Callable[[], bool]) -> None:
        run(stopped=stopped, must_end=duty.must_end)

    return work


def _channels(duty: Duty, stopped: Callable[[], bool]) -> None:
    ChannelCouriers().run(stopped=stopped, must_end=duty.must_end)


def _courier(lane: str) -> Callable[[Duty, Callable[[], bool]], None]:
    def work(duty: Duty, stopped: Callable[[], bool]) -> None:
        courier.run_lane(lane, stopped=stopped, must_end=duty.must_end)

    return work


def _relay(lane: str) -> Callable[[Duty, Callable[[], bool]], None]:
    def work(duty: Duty, stopped: Callable[[], bool]) -> None:
        relay_courier.run_lane(lane, stopped=stopped, must_end=duty.must_end)

    return work
