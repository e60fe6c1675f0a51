"""The judge: puts both facts of every monitor together, and writes down what has changed."""

import logging
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial

from monitors.engine import outside
from monitors.engine.facts import View
from monitors.engine.parts_watched import look_at_schedules, look_at_watch, look_at_workers
from monitors.engine.runs_watched import Monitors, RunsWatched
from monitors.ledger import blindness, keeping
from monitors.queries import watching
from monitors.queries.watching import Seen
from monitors.rules.own import WATCH, web_away_after
from monitors.rules.states import MonitorKind
from monitors.rules.verdicts import GAP
from runs.conf import conf
from runs.engine.rounds import MustEnd, go_on, holder, through, tried
from runs.ledger import ticks
from runs.queries.clock import db_now
from runs.queries.liveness import ticks as last_ticks
from runs.queries.memberships import default_tenant_id

log = logging.getLogger(__name__)

DUTY = "judge"
PASS_EVERY = 0.4
TICK_EVERY = TICK_BETWEEN = 1.0
SCHEDULES_EVERY = 2.0
LONGEST_PASS = 60.0
AT_ONCE = 200
# The pages of a new installation may begin later than its watch.
FIRST_PING = timedelta(minutes=1)
NOBODY_JUDGED = "the watch was away"
DATABASE_AWAY = "the database was away"
WEB_AWAY = "the pages take no pings"


class Judge:
    """One pass after another; what is wrong with one monitor does not stop the others."""

    def __init__(self) -> None:
        self.holder = holder()
        self._runs = RunsWatched()
        self._ticked = self._scheduled = float("-inf")
        self._seeing_since: datetime | None = None
        self._was_away = False
        self._must_end: MustEnd = lambda _seconds: None

    def run(self, *, stopped: Callable[[], bool], must_end: MustEnd) -> None:
        """Go round until stopped; a pass that hangs is killed by the parent."""
        self._must_end = must_end
        go_on(
            self.go_round,
            every=PASS_EVERY,
            longest=LONGEST_PASS,
            stopped=stopped,
            must_end=must_end,
        )

    def go_round(self) -> None:
        """One pass. A database that is away makes it blind, never wrong."""
        was_there = through(self._pass, duty=DUTY)
        self._was_away = not was_there

    def _pass(self) -> int:
        tenant_id = default_tenant_id()
        if tenant_id is not None:
            self._look(tenant_id)
        return 1

    def _look(self, tenant_id: int) -> None:
        if self._seeing_since is None:
            keeping.readdress()
        monitors = watching.own()
        watch = monitors.get((MonitorKind.WATCH.value, WATCH))
        self._notice_own_gap(watch, tenant_id=tenant_id)
        self._tick()
        if watch is not None and self._notice_web(watch):
            return
        view = self._view(watch)
        self._each(lambda: look_at_watch(monitors, view, tenant_id=tenant_id))
        self._each(lambda: look_at_workers(monitors, view, self._each, tenant_id=tenant_id))
        self._each(lambda: self._runs.look(monitors, view, self._each))
        self._look_at_schedules(monitors, view)
        for seen in watching.due(now=view.now, at_most=AT_ONCE):
            self._each(partial(outside.look, seen, view))

    def _view(self, watch: Seen | None) -> View:
        gap = watching.last_gap()
        return View(
            now=db_now(),
            believed_at=watch.last_ping_at if watch else None,
            blind_until=gap.until_at if gap else None,
            is_blind=gap is not None and gap.until_at is None,
        )

    def _look_at_schedules(self, monitors: Monitors, view: View) -> None:
        if time.monotonic() - self._scheduled >= SCHEDULES_EVERY:
            self._scheduled = time.monotonic()
            self._each(lambda: look_at_schedules(monitors, view, self._each))

    def _notice_own_gap(self, watch: Seen | None, *, tenant_id: int) -> None:
        """Nobody judged for a while, by the tick that all judges share; the clock may have jumped too."""
        last, now = self._own_gap()
        if last is not None:
            because = DATABASE_AWAY if self._was_away else NOBODY_JUDGED
            blindness.was(tenant_id=tenant_id, watch=watch, since=last, because=because, now=now)
            log.warning("judge.was_blind", extra={"since": last.isoformat(), "because": because})
            self._seeing_since = None
        if self._seeing_since is None:
            self._seeing_since = now

    def _own_gap(self) -> tuple[datetime | None, datetime]:
        """Since when nobody went round, if that is too long; and the time now."""
        last, now = last_ticks([DUTY]).get(DUTY), db_now()
        return (last if last is not None and now - last > GAP else None), now

    def _notice_web(self, watch: Seen) -> bool:
        """Whether a change was written: then everything is read again before anybody is judged (R34).

        Where no own ping ever came through, such as under a wrong SITE_URL, nobody would be judged.
        """
        gap, heard, now = watching.last_gap(), watch.last_ping_at or watch.created_at, db_now()
        is_open = gap is not None and gap.until_at is None
        if is_open and gap is not None and heard > gap.from_at:
            return blindness.end(watch, now=now)
        if is_open:
            return False
        allowed = FIRST_PING if watch.last_ping_at is None else web_away_after(conf().beat_every)
        return self._is_away(heard, now, allowed) and blindness.begin(
            watch, since=heard, because=WEB_AWAY, now=now
        )

    def _is_away(self, heard: datetime, now: datetime, allowed: timedelta) -> bool:
        """Not before our own pings had the time to come through since we see."""
        return now - max(heard, self._seeing_since or now) > allowed

    def _tick(self) -> None:
        if time.monotonic() - self._ticked >= TICK_EVERY:
            ticks.note(DUTY, holder=self.holder)
            self._ticked = time.monotonic()
            self._must_end(LONGEST_PASS)

    def _tick_between(self) -> None:
        """However many there are to judge, whoever judges them is not away."""
        # A machine that slept in the middle of a pass was: the next pass has to notice that.
        if time.monotonic() - self._ticked >= TICK_BETWEEN and self._own_gap()[0] is None:
            self._tick()

    def _each(self, act: Callable[[], object]) -> None:
        self._tick_between()
        tried(act, duty=DUTY)


def run(*, stopped: Callable[[], bool], must_end: MustEnd) -> None:
    """As a child of the watch; where no beats are asked for, nobody is judged."""
    if conf().beat_every <= timedelta():
        while not stopped():
            time.sleep(PASS_EVERY)
        return
    Judge().run(stopped=stopped, must_end=must_end)
