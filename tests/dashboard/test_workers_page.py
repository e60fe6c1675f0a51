"""The page of the workers: what a lease says, never what a row once said."""

from datetime import timedelta
from uuid import UUID

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from runs.engine.worker import known_plans
from runs.ledger import assignments, takeover, ticks, workers
from runs.models import Run, Worker
from runs.queries.clock import db_now
from tests.commands.saying import manage
from tests.dashboard.builders import start, work
from tests.durability.fences import a_worker_row

pytestmark = pytest.mark.django_db(transaction=True)


def page_of(client: Client) -> str:
    answer = client.get(reverse("runs:worker_list"))
    assert answer.status_code == 200
    return answer.content.decode()


def a_busy_worker(reference: str = "order-7") -> UUID:
    start("example_log", reference=reference)
    worker_id = a_worker_row()
    assert assignments.claim(worker_id=worker_id, plans=known_plans()) is not None
    return worker_id


def test_without_any_worker_it_says_how_to_start_some(looking: Client) -> None:
    page = page_of(looking)

    assert "No worker is alive, so nothing is being executed." in page
    assert "manage.py cluster" in page
    assert "clockwork never seen" in page


def test_a_busy_worker_names_its_run_its_step_and_its_lease(looking: Client) -> None:
    a_busy_worker()
    ticks.note("clockwork", holder="tests")

    page = page_of(looking)

    assert "<span>working</span>" in page
    assert "order-7</a> at count" in page
    assert "left</td>" in page
    assert "went round" in page


def test_a_worker_whose_lease_is_over_was_last_seen_and_works_no_more(looking: Client) -> None:
    worker_id = a_busy_worker()
    ago = db_now() - timedelta(minutes=4)
    Worker.objects.filter(pk=worker_id).update(renewed_at=ago, lease_until=ago)

    page = page_of(looking)

    assert "<span>stale</span>" in page
    assert "<span>working</span>" not in page
    assert "last seen" in page
    assert manage("workers", "list", "--json").json["workers"][0]["state"] == "stale"


def test_what_a_worker_has_done_is_counted_among_the_newest_work(
    looking: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        start("example_log", reference=f"order-{number}")
    work()

    # Numbers of assignments go on from test to test, so that only a high bound counts all of them.
    monkeypatch.setattr("runs.queries.crew.MOST_COUNTED", 10**12)
    assert '<td class="number phone-hidden">3</td>' in page_of(looking)
    monkeypatch.setattr("runs.queries.crew.MOST_COUNTED", 2)
    assert '<td class="number phone-hidden">2+</td>' in page_of(looking)


def test_runs_of_other_tenants_are_not_named(looking: Client) -> None:
    start("example_log", reference="secret-1", tenant="theirs")
    assert assignments.claim(worker_id=a_worker_row(), plans=known_plans())

    page = page_of(looking)

    assert "secret-1" not in page
    assert "a run you do not see" in page


def test_how_fast_runs_went_on_after_a_loss_is_shown(looking: Client) -> None:
    worker_id = a_busy_worker()
    assert workers.declare_lost(worker_id, because="its process is gone", only_if_expired=False)
    takeover.take_over(worker_id, because="its process is gone")
    assert assignments.claim(worker_id=a_worker_row(), plans=known_plans())

    page = page_of(looking)

    assert "Runs that lost their worker" in page
    assert f">{Run.objects.get().reference}</a>" in page
    assert "none yet" not in page
    told = manage("workers", "list", "--json").json
    assert told["recovery_seconds"]["count"] == 1
    assert told["recovery_seconds"]["median"] == told["recovery_seconds"]["maximum"] >= 0


def test_a_drained_worker_says_so_and_only_an_operator_may_drain(
    client: Client, operating: Client
) -> None:
    worker_id = a_busy_worker()
    address = reverse("runs:worker_drain", args=[worker_id])
    assert address in page_of(operating)
    assert (
        page_of(operating).split(address)[1].startswith('">\n    <input type="hidden" name="csrf')
    )
    assert operating.get(address).status_code == 405

    assert operating.post(address).status_code == 302

    assert "<span>draining</span>" in page_of(operating)
    assert address not in page_of(operating)


def test_somebody_who_may_only_look_cannot_drain(looking: Client) -> None:
    worker_id = a_busy_worker()
    address = reverse("runs:worker_drain", args=[worker_id])

    assert address not in page_of(looking)
    assert looking.post(address).status_code == 403
    assert not Worker.objects.get(pk=worker_id).draining


def test_it_costs_the_same_for_many_workers(
    looking: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(12):
        a_busy_worker(f"order-{number}")

    with django_assert_max_num_queries(28):
        page_of(looking)
