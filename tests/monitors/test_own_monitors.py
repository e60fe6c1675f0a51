"""Milepost watches its own runs, workers and schedules by itself, and never changes one of them."""

import itertools
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from pytest_django import Settings

from monitors.engine.judge import Judge
from monitors.engine.runs_watched import RunsWatched
from monitors.models import Incident, Monitor
from monitors.rules.verdicts import Facts
from runs.definition import Heartbeat, Workflow, registry, step
from runs.ledger import lifecycle, steps, ticks, workers
from runs.models import AuditEvent, Run, Schedule, Worker
from runs.queries.clock import db_now
from runs.queries.liveness import RunLife
from runs.queries.verify import violations
from tests.durability.fences import Held, a_held_run, a_worker_row, claimed_by
from tests.monitors.judged import (
    Bench,
    a_bench,
    alerts_of,
    last_said,
    own,
    ping_own,
    said_of,
)
from tests.schedules.builders import a_schedule
from tests.support import runs

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _workflows() -> Iterator[None]:
    with registry.isolated():

        class Watched(Workflow):
            """Declares every limit."""

            name, version = "watched", 1
            heartbeat = Heartbeat(
                every=timedelta(seconds=10),
                grace=timedelta(seconds=10),
                progress=timedelta(seconds=30),
                starts_within=timedelta(seconds=20),
                longest=timedelta(minutes=5),
            )

            @step(writes=["out"])
            def go(self, run: Any) -> None:
                run.write("out", 1)

        yield


@pytest.fixture
def bench(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    with a_bench(settings, monkeypatch) as made:
        yield made


class AtWork:
    """A held run whose worker beats, renews and gets on as the test says."""

    def __init__(self) -> None:
        self.held: Held = a_held_run("watched")
        self.beats = self.renews = self.gets_on = True
        self._number = 0

    def live(self) -> None:
        self._number += 1
        if self.beats:
            number = self.held.fence.number
            ping_own("run", self.held.run_id, fence=number, number=self._number)
            ping_own("worker", self.held.fence.worker_id, fence=0, number=self._number)
            ping_own("cluster", "cluster")
        if self.renews:
            assert workers.renew(self.held.fence.worker_id, memory_kb=1)
        if self.gets_on:
            steps.note_progress(self.held.fence, self.held.place, done=self._number, total=None)

    @property
    def monitor(self) -> Monitor:
        return own("run", self.held.run_id)


def test_a_run_that_beats_and_gets_on_is_alive_and_nobody_is_told(bench: Bench) -> None:
    work = AtWork()

    bench.wait(60, meanwhile=work.live)

    assert said_of(work.monitor) == ["alive"]
    assert Monitor.objects.exclude(verdict__in=["", "alive"]).count() == 0
    assert work.monitor.name.endswith("of watched")


def test_beats_without_progress_are_slow(bench: Bench) -> None:
    work = AtWork()
    bench.wait(6, meanwhile=work.live)
    work.gets_on = False

    bench.wait(36, meanwhile=work.live)

    assert said_of(work.monitor) == ["alive", "slow progress"]
    assert "30 s are allowed" in last_said(work.monitor).sentence
    assert alerts_of(work.monitor) == 1
    work.gets_on = True
    bench.wait(4, meanwhile=work.live)
    assert said_of(work.monitor)[-1] == "alive"


def test_a_second_judge_that_saw_its_progress_later_takes_nothing_back(bench: Bench) -> None:
    """R34: where progress is written down without a time, each judge dates it by its own passes."""
    work = AtWork()
    bench.wait(6, meanwhile=work.live)
    work.gets_on = False
    bench.wait(20, meanwhile=work.live)
    first, second = bench.judge, Judge()

    for _ in range(20):
        for judge in (first, second):
            bench.judge = judge
            bench.wait(2, meanwhile=work.live)

    assert said_of(work.monitor) == ["alive", "slow progress"]
    assert alerts_of(work.monitor) == 1


def test_a_judge_that_has_just_begun_calls_no_progress_of_before_stuck(bench: Bench) -> None:
    work = AtWork()
    bench.wait(60, meanwhile=work.live)
    bench.judge = Judge()

    bench.wait(10, meanwhile=work.live)

    assert said_of(work.monitor) == ["alive"]


def test_a_run_that_cannot_be_judged_does_not_keep_the_others_from_it(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken, work = AtWork(), AtWork()
    bench.wait(6, meanwhile=work.live)
    facts_of = RunsWatched._facts

    def facts(self: RunsWatched, life: RunLife, *more: Any) -> Facts:
        if life.id == broken.held.run_id:
            raise ZeroDivisionError
        return facts_of(self, life, *more)

    monkeypatch.setattr(RunsWatched, "_facts", facts)
    work.beats = work.renews = work.gets_on = False

    bench.wait(30)

    assert said_of(work.monitor)[-1] == "silent silence"


def test_progress_without_beats_is_cut_off(bench: Bench) -> None:
    work = AtWork()
    bench.wait(6, meanwhile=work.live)
    work.beats = False

    bench.wait(30, meanwhile=work.live)

    assert said_of(work.monitor) == ["alive", "cut_off silence"]
    assert "Do not restart it" in last_said(work.monitor).advice


def test_neither_is_silent(bench: Bench) -> None:
    work = AtWork()
    bench.wait(6, meanwhile=work.live)
    work.beats = work.renews = work.gets_on = False

    bench.wait(30)

    assert said_of(work.monitor) == ["alive", "silent silence"]
    assert Run.objects.get(pk=work.held.run_id).state == "running"
    assert violations() == []


def test_a_beating_worker_that_cannot_renew_its_lease_is_slow(bench: Bench) -> None:
    work = AtWork()
    bench.wait(6, meanwhile=work.live)
    work.renews = work.gets_on = False

    bench.wait(12, meanwhile=work.live)

    worker = own("worker", work.held.fence.worker_id)
    assert said_of(worker) == ["alive", "slow lease"]


def test_in_other_hands_the_beats_of_the_ones_before_count_no_more(bench: Bench) -> None:
    """I3, R21"""
    work = AtWork()
    bench.wait(6, meanwhile=work.live)
    lifecycle.hand_back(work.held.fence, because="the test says so", entered=True)
    bench.wait(4)
    assert work.monitor.state == "paused"
    bench.jump(100)
    taken = claimed_by(a_worker_row(), work.held.run_id)
    bench.wait(2)
    # It begins anew: how long ago it beat before it rested says nothing of it now.
    assert (work.monitor.state, work.monitor.last_ping_at) == ("new", None)

    ping_own("run", work.held.run_id, fence=work.held.fence.number, number=99)

    assert work.monitor.fence == taken.fence.number
    assert work.monitor.pings.latest("n").suspicious == "old_fence"


def test_its_monitor_is_put_away_when_the_run_ends(bench: Bench) -> None:
    work = AtWork()
    bench.wait(6, meanwhile=work.live)
    work.beats = work.gets_on = False
    bench.wait(30, meanwhile=work.live)

    lifecycle.fail(work.held.fence, reason="the test says so", error_class="Enough")
    bench.look()

    assert work.monitor.removed_at is not None
    assert alerts_of(work.monitor, open_only=True) == 0
    assert "is failed now" in last_said(work.monitor).sentence


def test_a_run_that_nobody_begins_in_time_is_told_of(bench: Bench) -> None:
    run_id = runs.a_run("watched")

    bench.wait(18)
    assert not Monitor.objects.filter(kind="run").exists()
    bench.wait(8)

    assert said_of(own("run", run_id)) == ["silent late_start"]
    assert "should have begun by" in last_said(own("run", run_id)).sentence
    work_on = claimed_by(a_worker_row(), run_id)
    bench.wait(4, meanwhile=lambda: ping_own("run", run_id, fence=work_on.fence.number))
    assert said_of(own("run", run_id)) == ["silent late_start", "alive"]


def test_a_run_that_takes_too_long_is_told_of_unless_it_said_so(bench: Bench) -> None:
    work, extended = AtWork(), AtWork()

    def both() -> None:
        work.live()
        extended.live()

    bench.wait(250, meanwhile=both)
    steps.note_extension(extended.held.fence, step="go", by=timedelta(minutes=2))

    bench.wait(60, meanwhile=both)

    assert said_of(work.monitor) == ["alive", "slow too_long"]
    assert said_of(extended.monitor) == ["alive"]
    assert AuditEvent.objects.filter(kind="run.extended").count() == 1
    bench.wait(100, meanwhile=both)
    assert said_of(extended.monitor) == ["alive", "slow too_long"]


def test_a_worker_that_ends_by_itself_is_put_away_and_nobody_is_told(bench: Bench) -> None:
    worker_id = a_worker_row()
    bench.wait(4)

    workers.retire(worker_id, because="ended")
    bench.wait(60)

    assert own("worker", worker_id).removed_at is not None
    assert alerts_of(own("worker", worker_id)) == 0


def test_a_worker_that_is_lost_is_told_of_and_put_away_when_others_have_its_work(
    bench: Bench,
) -> None:
    worker_id = a_worker_row()
    bench.wait(4, meanwhile=lambda: ping_own("worker", worker_id, fence=0))
    workers.declare_lost(worker_id, because="its process is gone", only_if_expired=False)

    bench.wait(50)
    assert said_of(own("worker", worker_id)) == ["alive", "silent silence"]
    bench.wait(30)

    assert own("worker", worker_id).removed_at is not None
    assert alerts_of(own("worker", worker_id), open_only=True) == 0
    assert Worker.objects.get(pk=worker_id).state == "lost"


def test_workers_that_one_cluster_loses_together_are_one_incident(bench: Bench) -> None:
    """As after one of them was stopped, and the cluster replaced them all."""
    kept = [a_worker_row(), a_worker_row()]
    Worker.objects.filter(pk__in=kept).update(cluster_pid=4711)
    other = a_worker_row()
    Worker.objects.filter(pk=other).update(cluster_pid=4712)

    def beat() -> None:
        for worker_id in (*kept, other):
            ping_own("worker", worker_id, fence=0)
        ping_own("cluster", "cluster")

    bench.wait(4, meanwhile=beat)
    for worker_id in kept:
        workers.declare_lost(worker_id, because="its process is gone", only_if_expired=False)
    number = itertools.count(2)

    def the_other_beats() -> None:
        ping_own("worker", other, fence=0, number=next(number))
        ping_own("cluster", "cluster")
        assert workers.renew(other, memory_kb=1)

    bench.wait(50, meanwhile=the_other_beats)

    assert [said_of(own("worker", each))[-1] for each in kept] == ["silent silence"] * 2
    assert Incident.objects.get().affected == 2
    assert said_of(own("worker", other)) == ["alive"]


def test_the_cluster_is_silent_when_no_worker_is_left(bench: Bench) -> None:
    worker_id = a_worker_row()
    bench.wait(4, meanwhile=lambda: ping_own("cluster", "cluster"))

    workers.retire(worker_id, because="ended")
    bench.wait(60)

    assert said_of(own("cluster", "cluster")) == ["alive", "silent silence"]
    assert "Nothing is executed" in last_said(own("cluster", "cluster")).advice


def test_a_schedule_whose_time_passes_unfired_is_told_of_and_put_away_with_it(
    bench: Bench,
) -> None:
    schedule = a_schedule(workflow="watched")
    bench.look()
    Schedule.objects.filter(pk=schedule.pk).update(due_at=(now := db_now()), next_at=now)

    bench.wait(26)

    monitor = own("schedule", schedule.pk)
    assert said_of(monitor) == ["alive", "silent late_start"]
    Schedule.objects.filter(pk=schedule.pk).update(removed_at=db_now(), due_at=None, next_at=None)
    bench.wait(4)
    assert own("schedule", schedule.pk).removed_at is not None
    assert alerts_of(monitor, open_only=True) == 0


def test_a_watch_whose_duty_does_not_go_round_is_slow(bench: Bench) -> None:
    ticks.note("schedules", holder="tests")
    bench.wait(20)

    assert said_of(own("watch", "watch"))[-1] == "slow progress"
