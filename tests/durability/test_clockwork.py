"""The clockwork: what it takes for over, what it leaves alone, and how little it rings."""

from collections.abc import Iterator
from datetime import timedelta
from uuid import UUID, uuid4

import pytest
from django.db import OperationalError
from pytest_django import Settings

from runs.conf import conf
from runs.engine import clock_duties, clockwork, identity, takeover
from runs.engine.clock_duties import ClockDuty
from runs.engine.clockwork import Clockwork
from runs.ledger import workers
from runs.models import Assignment, Run, Step, Tick, Wait, Worker
from runs.queries.clock import db_now
from runs.queries.verify import violations
from runs.rules.identity import ProcessIdentity
from tests.durability.fences import a_held_run, a_worker_row
from tests.support import runs

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("_bodies")]

RUNG: list[int] = []


def ring(assignment_id: int) -> None:
    RUNG.append(assignment_id)


def pull() -> None:
    """Nothing but `ring` rings this one."""


@pytest.fixture(autouse=True)
def _heard(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    RUNG.clear()
    settings.RUNS_DOORBELL = __name__
    # A test that is kept from the processor between two passes has seen no outage.
    monkeypatch.setattr(clockwork, "BLIND_AFTER", 600.0)


@pytest.fixture
def clock(settings: Settings) -> Iterator["MovedClock"]:
    """The database's clock, as far ahead as the test wants it."""
    yield MovedClock(settings)
    conf.cache_clear()


class MovedClock:
    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def jumps(self, by: timedelta) -> None:
        self._settings.CLOCK_OFFSET_SECONDS = by.total_seconds()
        conf.cache_clear()


def going() -> Clockwork:
    """A clockwork that has gone round before, so that it is not blind."""
    made = Clockwork()
    made.go_round()
    return made


def elsewhere() -> ProcessIdentity:
    return ProcessIdentity(host="another.example", boot_id="x", pid_namespace="x", pid=1, started=1)


def a_run_held_elsewhere(*, lease_over: bool) -> tuple[UUID, UUID]:
    held = a_held_run("lines_thrice", lines="/dev/null")
    worker_id = held.fence.worker_id
    until = db_now() + timedelta(seconds=-1 if lease_over else 60)
    Worker.objects.filter(pk=worker_id).update(host="another.example", lease_until=until)
    return held.run_id, worker_id


def test_a_worker_elsewhere_is_lost_once_its_lease_is_over() -> None:
    works = going()
    run_id, worker_id = a_run_held_elsewhere(lease_over=True)

    works.go_round()

    assert runs.state_of(run_id) == "queued"
    lost = Worker.objects.get(pk=worker_id)
    assert (lost.state, lost.proven_dead) == ("lost", False)
    assert violations([run_id]) == []


def test_a_worker_whose_lease_is_good_is_left_alone() -> None:
    works = going()
    run_id, _ = a_run_held_elsewhere(lease_over=False)

    works.go_round()

    assert runs.state_of(run_id) == "running"


def test_after_an_outage_every_lease_gets_a_full_period_first() -> None:
    """R25"""
    run_id, worker_id = a_run_held_elsewhere(lease_over=True)
    before = db_now()

    Clockwork().go_round()

    assert runs.state_of(run_id) == "running"
    assert Worker.objects.get(pk=worker_id).lease_until >= before + conf().lease


def test_a_clockwork_that_starts_beside_another_has_not_been_blind() -> None:
    """R25: one that restarts again and again would keep the dead alive for ever."""
    going()
    run_id, _ = a_run_held_elsewhere(lease_over=True)

    Clockwork().go_round()

    assert runs.state_of(run_id) == "queued"


def test_a_pass_that_could_not_be_made_is_made_up_for(monkeypatch: pytest.MonkeyPatch) -> None:
    works, tries = going(), iter([OperationalError("it is away")])
    run_id, _ = a_run_held_elsewhere(lease_over=True)
    looked = takeover.take_over_lost

    def take(**more: object) -> int:
        if failing := next(tries, None):
            raise failing
        return looked(**more)  # type: ignore[arg-type]

    monkeypatch.setattr(clockwork, "take_over_lost", take)
    works.go_round()
    assert runs.state_of(run_id) == "running"
    works.go_round()

    assert runs.state_of(run_id) == "queued"


def test_a_duty_of_another_app_that_the_database_refuses_ends_neither_the_next_nor_the_pass(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[int] = []

    def refused(*, at_most: int) -> list[int]:
        raise OperationalError(f"canceling statement of {at_most} due to lock timeout")

    duties = {
        "held": ClockDuty(name="held", due=refused, act=seen.append),
        "next": ClockDuty(name="next", due=lambda *, at_most: [at_most], act=seen.append),
    }
    monkeypatch.setattr(clock_duties, "_duties", duties)
    works = going()
    ticked = Tick.objects.filter(duty="clockwork").delete()[0]
    run_id, _ = a_run_held_elsewhere(lease_over=True)

    works.go_round()

    assert seen == [clockwork.AT_ONCE]
    assert ticked == 1
    assert runs.state_of(run_id) == "queued", "the pass before was one, so this one is not blind"


@pytest.mark.parametrize("hours", [1, -1])
def test_when_the_clock_jumps_nobody_is_lost_and_nothing_expires(
    clock: MovedClock, hours: int
) -> None:
    """R31"""
    works = going()
    run_id, worker_id = a_run_held_elsewhere(lease_over=False)
    asleep = runs.a_run("example_sleep", {"seconds": 600.0})
    runs.drain()

    clock.jumps(timedelta(hours=hours))
    for _ in range(3):
        works.go_round()

    assert runs.state_of(run_id) == "running"
    assert runs.state_of(asleep) == "waiting"
    assert Worker.objects.get(pk=worker_id).lease_until > db_now()
    assert Tick.objects.filter(duty="clock_jump").exists()


def test_a_lease_after_the_jump_what_is_due_is_done(
    clock: MovedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R31: it is held, not forgotten."""
    works = going()
    asleep = runs.a_run("example_sleep", {"seconds": 600.0})
    runs.drain()
    clock.jumps(timedelta(hours=1))
    works.go_round()

    monkeypatch.setattr(works.clock, "held_until", 0.0)
    works.go_round()

    assert runs.state_of(asleep) == "queued"


def test_a_process_is_the_same_whatever_the_wall_clock_says() -> None:
    """R22: its start is counted in ticks, so a moved clock does not make it look dead."""
    me = identity.of_this_process()

    assert identity.life_of(me, seen_from=me) == "alive"
    assert me.started == int(me.started) < 2**53
    later = ProcessIdentity(
        host=me.host, boot_id=me.boot_id, pid_namespace=me.pid_namespace, pid=me.pid,
        started=me.started + 1,
    )  # fmt: skip
    assert identity.life_of(later, seen_from=me) == "dead"
    assert identity.life_of(elsewhere(), seen_from=me) == "elsewhere"


def test_it_rings_no_more_than_there_are_idle_workers() -> None:
    """R33"""
    for _ in range(20):
        runs.a_run("lines_thrice", {"lines": "/dev/null"})
    Assignment.objects.update(placed_at=db_now() - timedelta(seconds=10))
    for _ in range(2):
        a_worker_row()
    RUNG.clear()

    Clockwork().go_round()

    assert len(RUNG) == 2


def test_it_does_not_ring_for_what_was_placed_just_now_nor_where_nobody_is_idle() -> None:
    """R33"""
    a_worker_row()
    runs.a_run("lines_thrice", {"lines": "/dev/null"})
    # However long this test is kept from the processor meanwhile, that was just now.
    Assignment.objects.update(placed_at=db_now() + timedelta(minutes=1))
    RUNG.clear()
    works = going()
    assert RUNG == []

    Worker.objects.update(draining=True)
    Assignment.objects.update(placed_at=db_now() - timedelta(seconds=10))
    works._last_slow = 0.0
    works.go_round()

    assert RUNG == []


def test_a_wait_that_two_clockworks_find_due_is_closed_once() -> None:
    """R34"""
    asleep = runs.a_run("example_sleep", {"seconds": 600.0})
    runs.drain()
    Wait.objects.update(due_at=db_now())

    for works in (going(), going()):
        works.go_round()

    assert Assignment.objects.filter(run_id=asleep, state="placed").count() == 1
    assert violations([asleep]) == []


def test_a_worker_that_ended_with_a_run_in_its_hands_gives_it_up_at_once() -> None:
    held = a_held_run("lines_thrice", lines="/dev/null")
    workers.retire(held.fence.worker_id, because="its body left by an exit of its own")

    going()

    assert runs.state_of(held.run_id) == "queued"
    assert violations([held.run_id]) == []


def test_the_budget_counts_deaths_in_a_row_and_a_page_between_them_forgives() -> None:
    run_id = runs.a_run("lines_thrice", {"lines": "/dev/null"})
    for crashes in (1, 2):
        worker_id = uuid4()
        workers.enlist(worker_id, identity.of_this_process(), cluster_pid=0, release="")
        _claim_and_die(worker_id)
        assert Step.objects.get(run_id=run_id).crashes == crashes
    assert Run.objects.get(pk=run_id).state == "queued"


def _claim_and_die(worker_id: UUID) -> None:
    from runs.engine.worker import known_plans
    from runs.ledger import assignments, takeover

    assert assignments.claim(worker_id=worker_id, plans=known_plans())
    workers.declare_lost(worker_id, because="tests", only_if_expired=False)
    takeover.take_over(worker_id, because="tests")
