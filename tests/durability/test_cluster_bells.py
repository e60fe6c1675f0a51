"""A doorbell rings with the transaction that placed the work, wakes a worker at once, and never fills a queue."""

import os
import statistics
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest
from django.db import connection, transaction
from pytest_django.fixtures import Settings

from runs.dispatch import bell, brokers
from runs.dispatch.backlog import RING_AFTER
from runs.dispatch.brokers import ENOUGH, Redis
from runs.dispatch.message import doorbell
from tests.durability.belfry import Belfry, the, those
from tests.support.programs import CLUSTER_WORKERS, Site
from tests.support.redis_server import RedisServer

processes = pytest.mark.processes


@pytest.fixture
def belfry(site: Site) -> Belfry:
    return Belfry(site=site)


@pytest.fixture
def redis_belfry(site: Site, redis_server: RedisServer, settings: Settings) -> Belfry:
    settings.REDIS_URL = site.settings["REDIS_URL"] = redis_server.url
    broker = Redis("milepost")
    broker.connection.flushdb()
    return Belfry(site=site, ring=lambda number: broker.ring(doorbell(number)))


@pytest.mark.django_db
def test_a_doorbell_is_unread_once_it_is_rung() -> None:
    bell.ring(1)

    assert bell.unread() == 1


@pytest.mark.django_db
def test_a_doorbell_of_a_transaction_that_was_rolled_back_never_rang() -> None:
    with transaction.atomic():
        bell.ring(1)
        transaction.set_rollback(True)

    assert bell.unread() == 0


@pytest.mark.django_db
def test_many_placed_runs_do_not_fill_the_queue() -> None:
    with transaction.atomic():
        for number in range(5 * ENOUGH):
            bell.ring(number)

    assert bell.unread() == ENOUGH


@pytest.mark.django_db
def test_a_ring_costs_one_statement(
    django_assert_num_queries: Callable[[int], AbstractContextManager[Any]],
) -> None:
    with transaction.atomic(), django_assert_num_queries(1):
        bell.ring(1)


@pytest.mark.django_db(transaction=True)
def test_redis_rings_when_the_transaction_has_committed(
    redis_server: RedisServer, settings: Settings
) -> None:
    settings.REDIS_URL = redis_server.url
    broker = Redis("a test of its own")

    with transaction.atomic():
        for number in range(2 * ENOUGH):
            broker.ring(doorbell(number))
        before = broker.unread()

    assert before == 0
    assert broker.unread() == ENOUGH


@pytest.mark.django_db(transaction=True)
def test_while_redis_is_away_placing_neither_fails_nor_waits(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    broker = Redis("milepost")

    monkeypatch.setattr(brokers, "time", Stopped())

    for number in range(100):
        broker.ring(doorbell(number))

    # One try for all that is placed within a second: by this clock, all hundred are.
    told = [each.message for each in caplog.records]
    assert told.count("bell.not_rung") == 1


class Stopped:
    """A clock that stands still, by which nobody can sleep."""

    def monotonic(self) -> float:
        return 1000.0


# Within milliseconds is a goal where nothing else runs; never is it as late as who looks by himself.
SOON = pytest.param(RING_AFTER, id="before anybody rings again")
AT_ONCE = pytest.param(0.03, id="within milliseconds", marks=pytest.mark.long)


@processes
@pytest.mark.parametrize("within", [SOON, AT_ONCE])
def test_a_worker_starts_with_the_commit(belfry: Belfry, within: float) -> None:
    belfry.cluster()

    waited = [_wake_up(belfry) for _ in range(30)]

    assert statistics.median(waited) < within, waited


@processes
@pytest.mark.parametrize("within", [SOON, AT_ONCE])
def test_with_redis_a_worker_starts_with_the_commit(redis_belfry: Belfry, within: float) -> None:
    cluster = redis_belfry.cluster()

    waited = [_wake_up(redis_belfry) for _ in range(30)]

    assert statistics.median(waited) < within, waited
    assert cluster.stop() == 0
    redis_belfry.site.leaves_nothing()


@processes
def test_while_redis_is_away_workers_look_by_themselves(site: Site) -> None:
    site.settings["REDIS_URL"] = "redis://127.0.0.1:1/0"
    belfry = Belfry(site=site, ring=lambda _number: None)
    cluster = belfry.cluster()

    for _ in range(3):
        belfry.wait_for("finished", belfry.place())

    assert cluster.process.poll() is None
    assert cluster.stop() == 0


@processes
def test_a_database_in_trouble_costs_nobody_his_life(belfry: Belfry) -> None:
    cluster = belfry.cluster()
    family = {one.pid for one in belfry.site.processes()}

    for _ in range(3):
        _trouble_the_database()
        belfry.wait_for("finished", belfry.place())

    assert {one.pid for one in belfry.site.processes()} == family
    assert cluster.process.poll() is None


@processes
def test_workers_are_replaced_after_some_work_and_nothing_is_lost(belfry: Belfry) -> None:
    cluster = belfry.cluster()
    first = {one.pid for one in those(belfry.site, "worker")}

    def recycled() -> bool:
        belfry.wait_for("finished", belfry.place())
        return not first & {one.pid for one in those(belfry.site, "worker")}

    belfry.eventually(recycled, "all are recycled")
    assert len(belfry.seen("delisted")) >= CLUSTER_WORKERS
    assert cluster.process.poll() is None
    assert cluster.stop() == 0


@processes
def test_workers_lead_groups_of_their_own_and_main_leads_the_rest(belfry: Belfry) -> None:
    cluster = belfry.cluster()

    workers = [one.pid for one in those(belfry.site, "worker")]
    others = [the(belfry.site, role).pid for role in ("main", "sentinel", "pusher", "monitor")]

    assert [os.getpgid(pid) for pid in workers] == workers
    assert {os.getpgid(pid) for pid in others} == {cluster.pid}


def _wake_up(belfry: Belfry) -> float:
    job = belfry.place(ring=False)
    with transaction.atomic():
        belfry.ring(0)
    committed = time.monotonic()
    return belfry.wait_for("started", job).at - committed


def _trouble_the_database() -> None:
    """PostgreSQL cuts every other connection; SQLite lets nobody write for a second."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(
                "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
            return
    with transaction.atomic():  # BEGIN IMMEDIATE takes the one write lock
        time.sleep(1)
