"""`/metrics`: what a machine reads that watches Milepost, and who may read it."""

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings

from tests.support import runs

pytestmark = pytest.mark.django_db(transaction=True)
SAMPLE = re.compile(r'^milepost_[a-z_]+(\{[a-z_]+="[^"]*"\})? -?[0-9.]+(e-[0-9]+)?$')


@pytest.fixture(autouse=True)
def _token(settings: Settings) -> None:
    settings.METRICS_TOKEN = "a-token-of-this-test"


def figures(client: Client) -> dict[str, float]:
    answer = client.get("/metrics", headers={"Authorization": "Bearer a-token-of-this-test"})
    assert answer.status_code == 200
    assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    lines = answer.content.decode().splitlines()
    samples = [line for line in lines if not line.startswith("#")]
    assert [line for line in samples if not SAMPLE.match(line)] == []
    return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in samples}


def test_the_figures_are_those_of_the_tables(client: Client) -> None:
    runs.a_run("example_pages", {"count": 1, "size": 1})

    found = figures(client)

    assert found['milepost_runs{state="queued"}'] == 1
    assert found['milepost_runs{state="failed"}'] == 0
    assert found["milepost_oldest_queued_seconds"] >= 0
    assert found["milepost_calls_ambiguous"] == 0
    assert found['milepost_monitors{verdict="silent"}'] == 0
    assert found['milepost_alerts_open{severity="critical"}'] == 0
    assert found["milepost_recoveries"] == 0


def test_each_family_says_what_it_is(client: Client) -> None:
    text = client.get(
        "/metrics", headers={"Authorization": "Bearer a-token-of-this-test"}
    ).content.decode()
    families = re.findall(r"^# TYPE (\S+) gauge$", text, re.MULTILINE)

    assert len(families) == len(set(families)) >= 14
    assert re.findall(r"^# HELP (\S+) .", text, re.MULTILINE) == families


def test_another_token_reads_nothing(client: Client) -> None:
    answer = client.get("/metrics", headers={"Authorization": "Bearer guessed"})

    assert answer.status_code == 401
    assert b"milepost_" not in answer.content


def test_no_token_is_no_empty_token(client: Client, settings: Settings) -> None:
    settings.METRICS_TOKEN = ""

    assert client.get("/metrics", headers={"Authorization": "Bearer "}).status_code == 401


def test_a_stranger_is_asked_to_sign_in(client: Client) -> None:
    answer = client.get("/metrics")

    assert answer.status_code == 302
    assert answer.headers["Location"].startswith("/signin/")


def test_a_person_reads_the_figures_of_their_own_tenants(client: Client) -> None:
    runs.a_run("example_pages", {"count": 1, "size": 1}, tenant="another")
    client.force_login(User.objects.create_user("ann"))

    text = client.get("/metrics").content.decode()

    assert 'milepost_runs{state="queued"} 0' in text


def test_the_number_of_its_queries_is_fixed(
    client: Client, django_assert_max_num_queries: object
) -> None:
    for _ in range(3):
        runs.a_run("example_pages", {"count": 1, "size": 1})

    with django_assert_max_num_queries(45):  # type: ignore[operator]
        figures(client)
