"""Somebody evicts a worker that is believed lost: its run goes on elsewhere, its late writes nowhere."""

import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from unittest.mock import Mock
from uuid import UUID, uuid4

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.test import Client
from django.urls import reverse

from runs.definition import registry
from runs.engine import evicting as engine
from runs.engine import identity
from runs.engine.clockwork import Clockwork
from runs.engine.worker import known_plans
from runs.ledger import assignments, takeover, workers
from runs.ledger.evicting import Eviction, NotEvicted, evict
from runs.models import Assignment, AuditEvent, Run, Step, Worker
from runs.queries.clock import db_now
from runs.queries.verify import violations
from runs.rules.fence import Fence
from runs.rules.identity import ProcessIdentity
from tests.commands import workflows
from tests.commands.saying import manage
from tests.dashboard.addresses import somebody
from tests.support import runs

pytestmark = pytest.mark.django_db
WORDS = "its machine is on fire"


@pytest.fixture(autouse=True)
def _workflows_of_these_tests() -> Iterator[None]:
    with registry.isolated():
        for workflow in workflows.made():
            registry.register(workflow)
        yield


@pytest.fixture
def process() -> Iterator[ProcessIdentity]:
    """A process of this machine that lives until somebody ends it."""
    sleeper = subprocess.Popen(["sleep", "600"], start_new_session=True)
    yield identity.of_process(sleeper.pid)
    sleeper.kill()
    sleeper.wait()


@pytest.fixture
def olga() -> Client:
    client = Client()
    client.force_login(somebody("olga", "operators"))
    return client


def held_by(process: ProcessIdentity, *, tenant: str = "default") -> tuple[UUID, UUID]:
    run_id, worker_id = runs.a_run("count", reference="monday", tenant=tenant), uuid4()
    workers.enlist(worker_id, process, cluster_pid=0, release="")
    assert assignments.claim(worker_id=worker_id, plans=known_plans())
    # Nobody renews its lease, which is to be good until a test says otherwise.
    seen_last(worker_id, ago=-timedelta(days=1))
    return run_id, worker_id


def fence_of(run_id: UUID) -> Fence:
    row = Assignment.objects.select_related("run").get(run_id=run_id, state="claimed")
    assert row.worker_id
    assert row.fence
    return Fence(
        tenant_id=row.run.tenant_id,
        run_id=run_id,
        worker_id=row.worker_id,
        number=row.fence,
        assignment_id=row.pk,
    )


def elsewhere() -> ProcessIdentity:
    return ProcessIdentity(host="far", boot_id="b", pid_namespace="n", pid=7, started=1.0)


def seen_last(worker_id: UUID, *, ago: timedelta) -> None:
    Worker.objects.filter(pk=worker_id).update(lease_until=db_now() - ago)


def address_of(worker_id: UUID) -> str:
    return reverse("runs:worker_evict", args=[worker_id])


@pytest.mark.django_db(transaction=True)
def test_the_page_says_what_becomes_of_the_run_and_evicting_gives_it_to_the_next(
    olga: Client,
) -> None:
    run_id, worker_id = held_by(elsewhere())
    fence = fence_of(run_id)
    seen_last(worker_id, ago=timedelta(minutes=4))
    listed = olga.get(reverse("runs:worker_list")).content.decode()
    page = olga.get(address_of(worker_id)).content.decode()

    answer = olga.post(address_of(worker_id), {"because": WORDS, "seen": str(run_id)}, follow=True)

    assert address_of(worker_id) in listed
    assert "monday goes back to the queue" in page
    assert "though it may be alive" not in page
    assert "It is declared lost, and 1 run taken from it." in answer.content.decode()
    run = runs.the_run(run_id)
    assert (run.state, run.fence > fence.number) == ("queued", True)
    assert takeover.note_rejected(fence)
    assert Step.objects.get(run_id=run_id, key=run.step).crashes == 0, "no crash of its step"
    told = AuditEvent.objects.get(kind="worker.evicted")
    assert (told.actor, WORDS in told.body) == ("olga", True)
    runs.drain()
    assert runs.state_of(run_id) == "succeeded"
    assert violations([run_id]) == []


def test_of_a_worker_whose_lease_is_good_it_has_to_be_said(
    olga: Client, process: ProcessIdentity
) -> None:
    """R22: and its process is dead before its run is placed."""
    run_id, worker_id = held_by(process)
    sent = {"because": WORDS, "seen": str(run_id)}

    unsaid = olga.post(address_of(worker_id), sent)

    assert unsaid.status_code == 422
    assert "Say so, or drain it" in unsaid.content.decode()
    assert runs.state_of(run_id) == "running"
    with pytest.raises(NotEvicted, match="Its lease is good"):
        evict(runs.the_operator(), Eviction(worker_id=worker_id, because=WORDS))

    assert olga.post(address_of(worker_id), {**sent, "though_alive": "on"}).status_code == 302

    assert runs.state_of(run_id) == "queued"
    assert identity.life_of(process, seen_from=identity.of_this_process()) == "dead"
    assert Worker.objects.get(pk=worker_id).proven_dead


def test_what_will_not_die_is_fenced_and_keeps_its_run_until_it_does(
    process: ProcessIdentity, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id, worker_id = held_by(process)
    fence = runs.the_run(run_id).fence
    monkeypatch.setattr("runs.engine.takeover.end_process", lambda process: False)

    done = engine.evict(
        runs.the_operator(), Eviction(worker_id=worker_id, because=WORDS, though_alive=True)
    )

    assert (done.lives, done.runs) == (True, ())
    run = runs.the_run(run_id)
    assert (run.state, run.fence) == ("running", fence + 1)


@pytest.mark.django_db(transaction=True)
def test_the_watch_goes_on_where_whoever_evicted_it_died(process: ProcessIdentity) -> None:
    run_id, worker_id = held_by(process)
    evict(runs.the_operator(), Eviction(worker_id=worker_id, because=WORDS, though_alive=True))
    Worker.objects.filter(pk=worker_id).update(ended_at=db_now() - timedelta(minutes=5))

    Clockwork().go_round()

    assert runs.state_of(run_id) == "queued"
    lost = Assignment.objects.get(run_id=run_id, state="lost")
    assert lost.outcome.endswith(WORDS)
    assert Step.objects.get(run_id=run_id, key="count").crashes == 0
    assert violations([run_id]) == []


def test_who_looked_at_another_run_and_who_comes_second_changes_nothing(olga: Client) -> None:
    run_id, worker_id = held_by(elsewhere())
    seen_last(worker_id, ago=timedelta(minutes=4))

    other = olga.post(address_of(worker_id), {"because": WORDS, "seen": str(uuid4())})
    evict(runs.the_operator(), Eviction(worker_id=worker_id, because=WORDS))
    second = olga.post(address_of(worker_id), {"because": "again", "seen": str(run_id)})

    assert "It holds another run than when you looked" in other.content.decode()
    assert (other.status_code, second.status_code) == (409, 409)
    assert "That worker is gone already" in second.content.decode()
    assert AuditEvent.objects.filter(kind="worker.evicted").count() == 1


def test_what_it_claims_while_it_is_evicted_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    run_id, worker_id = runs.a_run("count"), uuid4()
    workers.enlist(worker_id, elsewhere(), cluster_pid=0, release="")

    def claiming() -> datetime:
        assert assignments.claim(worker_id=worker_id, plans=known_plans())
        return db_now()

    monkeypatch.setattr("runs.ledger.evicting.db_now", claiming)
    with pytest.raises(NotEvicted, match="It holds another run than when you looked"):
        evict(
            runs.the_operator(),
            Eviction(worker_id=worker_id, because=WORDS, though_alive=True, seen=""),
        )

    assert Worker.objects.get(pk=worker_id).state == "live"
    assert runs.state_of(run_id) == "queued"


@pytest.mark.django_db(transaction=True)
def test_the_run_that_it_holds_is_locked_until_it_is_evicted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Or the commit that ends it might claim another one, which nobody looked at."""
    if connection.vendor == "sqlite":
        return
    run_id, worker_id = held_by(elsewhere())
    free: list[list[UUID]] = []

    def looking() -> datetime:
        with ThreadPoolExecutor(max_workers=1) as pool:
            free.append(pool.submit(runs_free_to_write).result(timeout=60))
        return db_now()

    monkeypatch.setattr("runs.ledger.evicting.db_now", looking)
    evict(
        runs.the_operator(),
        Eviction(worker_id=worker_id, because=WORDS, though_alive=True, seen=run_id),
    )

    assert free == [[]]
    assert runs_free_to_write() == [run_id]


def runs_free_to_write() -> list[UUID]:
    try:
        with transaction.atomic():
            rows = Run.objects.select_for_update(no_key=True, skip_locked=True)
            return list(rows.values_list("pk", flat=True))
    finally:
        connection.close()


def test_a_run_of_another_tenant_is_not_taken_by_who_does_not_see_it(olga: Client) -> None:
    run_id, worker_id = held_by(elsewhere(), tenant="theirs")
    seen_last(worker_id, ago=timedelta(minutes=4))

    assert "monday" not in olga.get(address_of(worker_id)).content.decode()
    answer = olga.post(address_of(worker_id), {"because": WORDS, "seen": str(run_id)})

    assert answer.status_code == 409
    assert runs.state_of(run_id) == "running"


def test_by_command_the_same_and_only_with_the_permission(monkeypatch: pytest.MonkeyPatch) -> None:
    run_id, worker_id = held_by(elsewhere())
    evicting = Mock(side_effect=engine.evict)
    monkeypatch.setattr("runs.management.commands.workers.evict", evicting)
    User.objects.create_user("bob")

    refused = manage("workers", "evict", str(worker_id)[:13], "--reason", WORDS)
    as_bob = manage("workers", "evict", worker_id, "--reason", WORDS, "--as", "bob")
    done = manage("workers", "evict", worker_id, "--reason", WORDS, "--though-alive", "--json")

    assert (refused.code, as_bob.code) == (1, 1)
    assert [call.args[1].seen for call in evicting.mock_calls] == [run_id, run_id]
    assert "Its lease is good" in refused.err
    assert done.json == {"taken": [str(run_id)], "process_lives": False}
    assert runs.state_of(run_id) == "queued"
