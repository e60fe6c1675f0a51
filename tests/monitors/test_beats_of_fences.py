"""A ping that carries a fence and a number counts only if it is newer than those before it."""

import pytest
from django.test import Client

from monitors.queries.seen_beats import seen_of
from runs.queries.clock import db_now
from tests.monitors.pinged import a_monitor, again, last_ping

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("headers", "suspicious"),
    [
        ({"X-Milepost-Beat": "7,5"}, ""),
        ({"X-Milepost-Beat": "8,1"}, ""),
        ({"X-Milepost-Beat": "7, 5", "X-Milepost-Sent": "1790000000.5"}, ""),
        ({}, "alien"),
        ({"X-Milepost-Beat": "6,99"}, "old_fence"),
        ({"X-Milepost-Beat": "7,4"}, "old_number"),
        ({"X-Milepost-Beat": "7,3", "X-Milepost-Sent": "1790000000.5"}, "late"),
    ],
)
def test_an_alien_or_old_beat_is_kept_and_makes_nothing_up(
    client: Client, headers: dict[str, str], suspicious: str
) -> None:
    monitor = a_monitor(state="down", fence=7, beat_number=4)

    answer = client.post(f"/ping/{monitor.code}", headers=headers)

    assert (answer.status_code, last_ping(monitor).suspicious) == (200, suspicious)
    assert again(monitor).state == ("down" if suspicious else "up")
    assert (again(monitor).fence, again(monitor).beat_number) == (
        (7, 4) if suspicious else (last_ping(monitor).fence, last_ping(monitor).beat_number)
    )
    assert again(monitor).n_pings == 1
    seen = seen_of([again(monitor)], since=monitor.created_at, now=db_now(), newest=10)
    assert len(seen[monitor.pk].beats) == (suspicious in ("", "late"))


@pytest.mark.parametrize(
    "headers",
    [
        {"X-Milepost-Beat": "7"},
        {"X-Milepost-Beat": "7,-1"},
        {"X-Milepost-Beat": "7,²"},
        {"X-Milepost-Beat": f"{2**63},1"},
        {"X-Milepost-Sent": "yesterday"},
        {"X-Milepost-Sent": "1e300"},
        {"X-Milepost-Sent": "nan"},
    ],
)
def test_what_is_no_beat_is_refused(client: Client, headers: dict[str, str]) -> None:
    monitor = a_monitor()

    assert client.post(f"/ping/{monitor.code}", headers=headers).status_code == 400
    assert again(monitor).n_pings == 0


def test_old_pings_go_and_their_numbers_do_not(client: Client) -> None:
    monitor = a_monitor(n_pings=1099)
    monitor.pings.create(n=99, kind="log", at=monitor.created_at, method="GET", scheme="http")

    client.get(f"/ping/{monitor.code}")

    assert list(monitor.pings.values_list("n", flat=True)) == [1100]
