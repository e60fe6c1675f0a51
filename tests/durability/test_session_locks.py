"""A worker that cannot be seen from here dies with its session at the database; that is seen from everywhere (R24)."""

import os
import signal
import time
from datetime import datetime, timedelta
from functools import partial
from uuid import UUID

import pytest
from django.db import connection, connections

from runs.engine import clockwork, identity
from runs.engine.clockwork import Clockwork
from runs.engine.session_lock import SessionLock
from runs.ledger import workers
from runs.models import Worker
from runs.queries import locks
from runs.queries.clock import db_now
from runs.queries.workers import last_tick
from runs.rules.identity import lock_key
from tests.durability.fences import a_held_run
from tests.durability.plant import Plant
from tests.durability.test_leases import in_its_body
from tests.support import runs
from tests.support.waiting import eventually

if connection.vendor == "sqlite":
    pytest.skip("session locks are PostgreSQL's", allow_module_level=True)

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("_bodies"),
]


LEASE = 6


@pytest.fixture(autouse=True)
def _never_blind(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test that is kept from the processor between two passes has seen no outage."""
    monkeypatch.setattr(clockwork, "BLIND_AFTER", 600.0)


def another_session() -> None:
    """From here on the test is another session than the one that took the lock."""
    connections["default"].close()


def a_worker_elsewhere_with_a_lock() -> tuple[UUID, UUID]:
    held = a_held_run("lines_thrice", lines="/dev/null")
    worker_id = held.fence.worker_id
    Worker.objects.filter(pk=worker_id).update(
        host="another.example", lease_until=db_now() + timedelta(seconds=60)
    )
    SessionLock(worker_id).keep()
    return held.run_id, worker_id


def look_until_taken(works: Clockwork, run_id: UUID) -> None:
    def taken() -> bool:
        works.go_round()
        return runs.state_of(run_id) == "queued"

    eventually(taken, what="it is taken over", every=0.1)


def going() -> Clockwork:
    made = Clockwork()
    made.go_round()
    made._locks._not_before = 0.0
    return made


def test_a_held_lock_is_left_alone_and_one_that_is_freed_is_taken_at_the_second_look() -> None:
    """R24"""
    run_id, worker_id = a_worker_elsewhere_with_a_lock()
    works = going()
    assert lock_key(worker_id) in locks.held_locks()
    works.go_round()
    assert runs.state_of(run_id) == "running"

    another_session()
    works.go_round()
    assert runs.state_of(run_id) == "running"
    look_until_taken(works, run_id)

    lost = Worker.objects.get(pk=worker_id)
    assert lost.end_reason == "its session at the database is gone"
    assert not lost.proven_dead


def test_a_held_lock_does_not_override_a_lease_that_is_over() -> None:
    """R24"""
    run_id, worker_id = a_worker_elsewhere_with_a_lock()
    works = going()
    Worker.objects.filter(pk=worker_id).update(lease_until=db_now() - timedelta(seconds=1))

    works.go_round()

    assert lock_key(worker_id) in locks.held_locks()
    assert runs.state_of(run_id) == "queued"


def test_a_restarted_server_has_freed_every_lock_and_proves_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """R24, R25: the locks say nothing until everybody has had one lease to take them again."""
    run_id, _ = a_worker_elsewhere_with_a_lock()
    works = going()
    another_session()
    later = locks.server_started()
    assert later is not None
    monkeypatch.setattr(
        "runs.engine.freed_locks.server_started", lambda: later + timedelta(seconds=1)
    )

    for _ in range(8):
        works.go_round()
        time.sleep(0.1)

    assert runs.state_of(run_id) == "running"


def test_on_this_machine_the_process_counts_and_the_lock_does_not() -> None:
    """R22, R24: its keeper may just be making its connection anew."""
    held = a_held_run("lines_thrice", lines="/dev/null")
    SessionLock(held.fence.worker_id).keep()
    works = going()
    another_session()

    for _ in range(8):
        works.go_round()
        time.sleep(0.1)

    assert runs.state_of(held.run_id) == "running"


def test_behind_a_transaction_pooler_the_lock_is_given_up() -> None:
    """R24: a session that was not interrupted and no longer holds it is not one session."""
    held = a_held_run("lines_thrice", lines="/dev/null")
    worker_id = held.fence.worker_id
    lock = SessionLock(worker_id)
    lock.keep()
    assert Worker.objects.get(pk=worker_id).lock_key == lock_key(worker_id)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_unlock_all()")

    lock.keep()

    assert Worker.objects.get(pk=worker_id).lock_key is None
    lock.keep()
    assert lock_key(worker_id) not in locks.held_locks()


def test_the_keeper_takes_its_lock_again_on_a_new_connection() -> None:
    """R24"""
    held = a_held_run("lines_thrice", lines="/dev/null")
    lock = SessionLock(held.fence.worker_id)
    lock.keep()
    another_session()
    eventually(lambda: lock.key not in locks.held_locks(), what="the server has ended the session")

    lock.keep()

    assert lock.key in locks.held_locks()


def test_a_worker_that_was_declared_lost_is_not_given_a_lock() -> None:
    held = a_held_run("lines_thrice", lines="/dev/null")
    workers.declare_lost(held.fence.worker_id, because="tests", only_if_expired=False)
    SessionLock(held.fence.worker_id).keep()

    assert Worker.objects.get(pk=held.fence.worker_id).lock_key is None


def ticked_since(seen: datetime | None) -> bool:
    return last_tick("clockwork") != seen


def the_watch_has_gone_round(plant: Plant) -> None:
    """One pass that began before this is over, and one that began after it: it has seen what is there."""
    for _ in range(2):
        plant.eventually(partial(ticked_since, last_tick("clockwork")), "the watch goes round")


@pytest.mark.processes
def test_a_worker_of_another_host_that_is_killed_is_replaced_long_before_its_lease_is_over(
    own_plant: Plant,
) -> None:
    """R24: its lease would have been good for longer."""
    own_plant.site.settings["LEASE_SECONDS"] = str(LEASE)
    own_plant.watch()
    own_plant.cluster()
    run_id, worker = in_its_body(own_plant, "stays", seconds=600)
    # A watch that has just begun trusts no lock for one lease.
    own_plant.eventually(
        lambda: db_now() - Worker.objects.get(pk=worker.pk).started_at > timedelta(seconds=LEASE),
        "the watch trusts the locks",
    )
    own_plant.eventually(
        lambda: Worker.objects.get(pk=worker.pk).lock_key in locks.held_locks(), "it has its lock"
    )
    Worker.objects.filter(pk=worker.pk).update(host="another.example")
    the_watch_has_gone_round(own_plant)
    # Stopped it renews nothing, so this lease stands, however slow the machine is.
    os.kill(worker.pid, signal.SIGSTOP)
    good_for_long = db_now() + timedelta(hours=1)
    Worker.objects.filter(pk=worker.pk).update(lease_until=good_for_long)

    killed_at = db_now()
    os.kill(worker.pid, signal.SIGKILL)
    own_plant.eventually(lambda: own_plant.deaths_of(run_id), "it is taken over")

    lost = Worker.objects.get(pk=worker.pk)
    assert lost.end_reason == "its session at the database is gone"
    assert lost.ended_at is not None
    print(f"taken after {(lost.ended_at - killed_at).total_seconds():.2f} s")  # noqa: T201
    assert identity.of_this_process().host != lost.host
