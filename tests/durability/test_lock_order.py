"""Who locks what, in which order, and who keeps out of whose way: R18, R19, R23."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar
from uuid import UUID

import pytest
from django.db import IntegrityError, OperationalError, connection, transaction
from pytest_django import Settings

from runs.conf import conf
from runs.engine.lease_keeper import LeaseKeeper
from runs.engine.worker import known_plans
from runs.ledger import assignments, lifecycle, transitions
from runs.models import Event, Run, Step, Wait, Worker
from runs.queries.clock import db_now
from runs.queries.verify import violations
from tests.durability.fences import a_held_run, a_worker_row
from tests.support import runs
from tests.support.waiting import eventually

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("_bodies")]
Answer = TypeVar("Answer")
# Unlike pg_stat_activity it is read anew each time, also inside a transaction.
WAITS = "SELECT count(*) FROM pg_locks WHERE NOT granted"


@pytest.fixture
def elsewhere() -> Iterator[Callable[[Callable[[], Any]], "Future[Any]"]]:
    """Another session: what is called there has a connection of its own."""
    with ThreadPoolExecutor(max_workers=1) as pool:

        def call(what: Callable[[], Answer]) -> "Future[Answer]":
            def closing() -> Answer:
                try:
                    return what()
                finally:
                    connection.close()

            return pool.submit(closing)

        yield call


def briefly() -> None:
    """Whoever would have to wait for a lock fails instead."""
    with connection.cursor() as cursor:
        cursor.execute("SET lock_timeout = '500ms'")


def test_a_locked_run_is_passed_over_by_a_claim_which_takes_the_next(elsewhere: Any) -> None:
    """R18: the oldest is being cancelled; nobody waits for that, and nobody deadlocks with it."""
    if connection.vendor == "sqlite":
        return
    first, second = (runs.a_run("lines_thrice", {"lines": "/dev/null"}) for _ in range(2))
    worker_id = a_worker_row()

    def claim() -> UUID | None:
        briefly()
        claimed = assignments.claim(worker_id=worker_id, plans=known_plans())
        return claimed.fence.run_id if claimed else None

    with transaction.atomic():
        transitions.lock(first)
        assert elsewhere(claim).result(timeout=60) == second


def test_a_held_run_does_not_keep_others_from_writing_what_refers_to_it(elsewhere: Any) -> None:
    """R18: it is held FOR NO KEY UPDATE; a plain FOR UPDATE would block every such insert."""
    if connection.vendor == "sqlite":
        return
    run_id = runs.a_run("lines_thrice", {"lines": "/dev/null"})

    def refer_to_it() -> int:
        briefly()
        event = Event.objects.create(
            tenant=runs.the_tenant(), name="n", correlation_id="c", message_id="m", payload="{}",
            payload_digest="", source="tests", received_at=db_now(), used_by=None,
        )  # fmt: skip
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT 1 FROM runs_run WHERE id = %s FOR KEY SHARE", [run_id])
        return int(event.pk)

    with transaction.atomic():
        transitions.lock(run_id)
        assert elsewhere(refer_to_it).result(timeout=60)


def test_a_write_under_a_fence_that_is_being_raised_waits_and_is_refused(elsewhere: Any) -> None:
    """R20: the guard reads the run's row FOR SHARE, or it would read the fence of before."""
    if connection.vendor == "sqlite":
        return
    held = a_held_run("lines_thrice", lines="/dev/null")

    def write_late() -> str:
        try:
            Step.objects.filter(run_id=held.run_id).update(progress_done=1)
        except IntegrityError as refused:
            return str(refused)
        return "written"

    def waits_or_is_over() -> bool:
        with connection.cursor() as cursor:
            cursor.execute(WAITS)
            return bool(cursor.fetchone()[0]) or late.done()

    with transaction.atomic():
        Run.objects.filter(pk=held.run_id).update(fence=held.fence.number + 1)
        late: Future[str] = elsewhere(write_late)
        eventually(waits_or_is_over, what="the late write waits for the run's row")

    assert "I3" in late.result(timeout=60)


def test_claims_and_cancellations_at_the_same_time_never_deadlock(elsewhere: Any) -> None:
    """R18: both take the run first and then its assignment."""
    run_ids = [runs.a_run("lines_thrice", {"lines": "/dev/null"}) for _ in range(20)]
    worker_id = a_worker_row()

    def claim_all() -> int:
        return sum(
            assignments.claim(worker_id=worker_id, plans=known_plans()) is not None
            for _ in range(25)
        )

    claiming = elsewhere(claim_all)
    for run_id in run_ids:
        lifecycle.cancel(runs.the_operator(), run_id, because="tests")

    claimed = claiming.result(timeout=60)
    ended = Run.objects.filter(state="cancelled").count()
    asked = Run.objects.filter(state="running", cancel_requested=True).count()
    assert (ended + asked, asked) == (20, claimed)
    assert violations() == []


def test_whoever_waits_too_long_for_a_lock_is_told_so(elsewhere: Any) -> None:
    """R19: every session has a lock_timeout, or SQLite's busy timeout; nobody hangs for ever."""
    with connection.cursor() as cursor:
        cursor.execute("SHOW lock_timeout" if _on_postgresql() else "PRAGMA busy_timeout")
        allowed = cursor.fetchone()[0]
    assert allowed in ("30s", 20_000)
    run_id = runs.a_run("lines_thrice", {"lines": "/dev/null"})

    def lock_it_too() -> str:
        with connection.cursor() as cursor:
            shorter = (
                "SET lock_timeout = '300ms'" if _on_postgresql() else "PRAGMA busy_timeout=300"
            )
            cursor.execute(shorter)
        try:
            with transaction.atomic():
                transitions.lock(run_id)
        except OperationalError as late:
            return str(late)
        return "it did not wait"

    with transaction.atomic():
        transitions.lock(run_id)
        assert "lock" in elsewhere(lock_it_too).result(timeout=60)


def _on_postgresql() -> bool:
    return connection.vendor == "postgresql"


def test_the_lease_is_kept_while_a_body_holds_a_transaction(settings: Settings) -> None:
    """R23: the keeper has its thread and its connection; on SQLite it comes as soon as it can."""
    settings.LEASE_SECONDS = 1.5
    conf.cache_clear()
    held = a_held_run("lines_thrice", lines="/dev/null")
    worker_id = held.fence.worker_id
    began = Worker.objects.get(pk=worker_id).renewed_at
    keeper = LeaseKeeper(worker_id, on_lost=lambda: None)
    keeper.start()
    try:
        with transaction.atomic():
            Wait.objects.filter(run_id=held.run_id).update(closed_by="tests")
            if _on_postgresql():
                eventually(lambda: _renewed_at(worker_id) > began, what="it is renewed meanwhile")
            else:
                threading.Event().wait(1.2)
            seen = _renewed_at(worker_id)
        eventually(lambda: _renewed_at(worker_id) > seen, what="it is renewed")
        assert not keeper.lost
    finally:
        keeper.stop()
        keeper.join()
        conf.cache_clear()


def _renewed_at(worker_id: UUID) -> Any:
    return Worker.objects.values_list("renewed_at", flat=True).get(pk=worker_id)
