"""The judge driven inside the test's own process, on a clock that only the test moves."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from pytest_django import Settings

from monitors.engine import judge as judging
from monitors.engine.judge import Judge
from monitors.ledger import pings
from monitors.models import Alert, Monitor, VerdictChange
from monitors.rules.own import WATCH, code_of
from monitors.rules.pinging import Beat
from monitors.rules.received import Received
from monitors.rules.states import PingKind
from runs.conf import conf
from runs.ledger import ticks
from tests.support import runs
from tests.support.standing_clock import a_standing_clock

STEP = 2.0


class Bench:
    """A judge and its watch; `settings` carry the clock."""

    def __init__(self, settings: Settings) -> None:
        self._settings, self._offset = settings, 0.0
        self.judge = Judge()
        self.own_pings = True
        runs.the_tenant()

    def jump(self, seconds: float) -> None:
        """Time passes, and nobody does anything meanwhile."""
        self._offset += seconds
        self._settings.CLOCK_OFFSET_SECONDS = self._offset
        conf.cache_clear()

    def look(self) -> None:
        """One own ping, if they come through, and one pass."""
        self.pulse()
        self.judge.go_round()

    def pulse(self) -> None:
        ticks.note("clockwork", holder="tests")
        if self.own_pings:
            ping_own("watch", WATCH)

    def wait(self, seconds: float, *, meanwhile: Any = None) -> None:
        """Time passes in small steps, with a pass of the judge after each."""
        left = seconds
        while left > 0:
            self.jump(min(STEP, left))
            left -= STEP
            if meanwhile is not None:
                meanwhile()
            self.look()


@contextmanager
def a_bench(settings: Settings, patch: pytest.MonkeyPatch) -> Iterator[Bench]:
    patch.setattr(judging, "TICK_EVERY", 0.0)
    patch.setattr(judging, "SCHEDULES_EVERY", 0.0)
    settings.BEAT_SECONDS = 10
    conf.cache_clear()
    with a_standing_clock(patch):
        bench = Bench(settings)
        bench.look()
        bench.look()
        bench.look()
        yield bench
    settings.CLOCK_OFFSET_SECONDS = 0
    conf.cache_clear()


def ping(monitor: Monitor, kind: PingKind = PingKind.SUCCESS) -> None:
    assert pings.receive(Received(code=monitor.code, kind=kind)).what == "taken"


def ping_own(kind: str, subject: object, *, fence: int | None = None, number: int = 1) -> str:
    beat = Beat(fence=fence, number=number) if fence is not None else None
    code = code_of(kind, str(subject), secret=conf().secret)
    return pings.receive(Received(code=code, kind=PingKind.SUCCESS, beat=beat)).what


def own(kind: str, subject: object) -> Monitor:
    return Monitor.objects.get(kind=kind, subject=str(subject))


def said_of(monitor: Monitor) -> list[str]:
    """Every verdict that was ever said of it, with what was not kept."""
    rows = VerdictChange.objects.filter(monitor=monitor).order_by("seq")
    return [f"{row.verdict} {row.breach}".strip() for row in rows]


def last_said(monitor: Monitor) -> VerdictChange:
    return VerdictChange.objects.filter(monitor=monitor).latest("seq")


def alerts_of(monitor: Monitor, *, open_only: bool = False) -> int:
    rows = Alert.objects.filter(monitor=monitor)
    return rows.filter(closed_at=None).count() if open_only else rows.count()


def run_id_of(monitor: Monitor) -> UUID:
    return UUID(monitor.subject)


MINUTE = timedelta(minutes=1)
