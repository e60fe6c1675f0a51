"""Whatever is sent to a ping's address, the answer is never an error of ours."""

import psycopg
import pytest
from django.db import connection
from django.test import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from monitors.models import Monitor
from tests.monitors.pinged import KEY, a_key, a_monitor, again, last_ping

pytestmark = pytest.mark.django_db(transaction=True)

ENDS = st.sampled_from(["", "/", "/start", "/fail/", "/log", "/0", "/300", "/00001", "/²", "/x"])
QUERIES = st.dictionaries(
    st.sampled_from(["rid", "create", "rid\x00"]), st.text(max_size=40), max_size=2
)
LATIN = st.text(st.characters(max_codepoint=255, exclude_characters="\r\n"), max_size=300)
HEADERS = st.dictionaries(
    st.sampled_from(["User-Agent", "Subject", "Content-Type", "X-Forwarded-For", "Host"])
    | st.sampled_from(["X-Milepost-Beat", "X-Milepost-Sent", "Cookie"]),
    LATIN,
    max_size=3,
)


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    end=ENDS,
    query=QUERIES,
    headers=HEADERS,
    body=st.binary(max_size=300),
    by_slug=st.booleans(),
    method=st.sampled_from(["GET", "HEAD", "POST", "OPTIONS", "DELETE", "PROPFIND"]),
)
def test_no_request_is_answered_with_an_error_of_ours(
    end: str,
    query: dict[str, str],
    headers: dict[str, str],
    body: bytes,
    by_slug: bool,
    method: str,
) -> None:
    monitor = _the_monitor()
    path = f"/ping/{KEY}/fuzzed" if by_slug else f"/ping/{monitor.code}"
    before = again(monitor).n_pings

    answer = Client(raise_request_exception=False).generic(
        method, path + end, body, headers=headers, query_params=query
    )

    assert answer.status_code < 500
    counted = answer.status_code in (200, 201)
    assert again(monitor).n_pings == before + counted


def _the_monitor() -> Monitor:
    found = Monitor.objects.filter(slug="fuzzed").first()
    if found is None:
        a_key()
        told = '{"body":true,"fail":["e"],"subject":true,"success":["a"]}'
        found = a_monitor(slug="fuzzed", filters=told, period=None, cron="* * * * *")
    return found


def test_a_body_is_kept_as_it_came_and_shown_as_text() -> None:
    monitor = a_monitor()

    Client().generic("POST", f"/ping/{monitor.code}", b"ok \xff\x00 \xf0\x9f\x90\x8c")

    assert bytes(last_ping(monitor).body) == b"ok \xff\x00 \xf0\x9f\x90\x8c"


def test_a_ping_on_a_connection_that_was_cut_counts_once(client: Client) -> None:
    monitor = a_monitor()
    client.get(f"/ping/{monitor.code}")

    _cut_every_connection()
    answer = client.get(f"/ping/{monitor.code}")

    assert answer.status_code == 200
    assert again(monitor).n_pings == 2


def _cut_every_connection() -> None:
    if connection.vendor == "sqlite":
        connection.close()
        return
    parameters = connection.get_connection_params()
    wanted = ("host", "port", "user", "password", "dbname")
    told = {name: parameters[name] for name in wanted if name in parameters}
    with psycopg.connect(**told) as other:
        other.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


def test_what_could_not_be_kept_is_said_so_and_can_be_sent_again(client: Client) -> None:
    monitor = a_monitor()
    # A row that takes the number the next ping is to have: the database refuses that ping.
    monitor.pings.create(n=1, kind="log", at=monitor.created_at, method="GET", scheme="http")

    answer = client.get(f"/ping/{monitor.code}")

    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")
    assert again(monitor).n_pings == 0
    assert again(monitor).state == "new"
