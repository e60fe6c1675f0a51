"""What a machine is told that asks how the service is."""

from datetime import timedelta

import pytest
from django.test import Client
from pytest_django import Settings

from runs.conf import conf
from runs.ledger import ticks
from runs.models import Tick
from runs.queries.clock import db_now
from tests.durability.fences import a_worker_row
from tests.support.programs import Site

pytestmark = pytest.mark.django_db


def test_a_living_process_says_so_to_anybody(client: Client) -> None:
    answer = client.get("/healthz")

    assert answer.status_code == 200
    assert answer.json() == {"ok": True}


def test_asking_a_process_costs_no_query(client: Client, django_assert_num_queries: object) -> None:
    with django_assert_num_queries(0):  # type: ignore[operator]
        client.get("/healthz")


def test_a_service_without_workers_is_not_ready_and_says_what_is_missing(client: Client) -> None:
    answer = client.get("/readyz")

    assert answer.status_code == 503
    assert "worker" in answer.json()["trouble"]


def test_a_service_whose_judge_stands_still_is_not_ready(
    client: Client, settings: Settings
) -> None:
    settings.BEAT_SECONDS = 10
    conf.cache_clear()
    a_worker_row()
    ticks.note("clockwork", holder="tests")
    ticks.note("judge", holder="tests")
    assert client.get("/readyz").json() == {"ok": True, "trouble": ""}
    Tick.objects.filter(duty="judge").update(at=db_now() - timedelta(hours=2))

    answer = client.get("/readyz")

    conf.cache_clear()
    assert answer.status_code == 503
    assert answer.json()["trouble"] == (
        "Nobody watches: no tick of its judge for 2 h, so silence is not noticed."
    )


@pytest.mark.one_database
@pytest.mark.processes
def test_a_service_whose_tables_are_missing_says_what_to_run(empty_site: Site) -> None:
    empty_site.var.mkdir()
    ask = "from django.test import Client; print(Client().get('/readyz', headers={'host': 'localhost'}).text)"

    answer = empty_site.manage("shell", "--no-imports", "--command", ask)

    assert "run manage.py migrate" in answer.out
