"""What a machine is told that asks how the service is."""

import pytest
from django.test import Client

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


@pytest.mark.one_database
@pytest.mark.processes
def test_a_service_whose_tables_are_missing_says_what_to_run(empty_site: Site) -> None:
    empty_site.var.mkdir()
    ask = "from django.test import Client; print(Client().get('/readyz', headers={'host': 'localhost'}).text)"

    answer = empty_site.manage("shell", "--no-imports", "--command", ask)

    assert "run manage.py migrate" in answer.out
