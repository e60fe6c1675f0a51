"""The hour bars of the first page: what began in each of the last 24 hours, and where a bar leads to."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from runs.queries import pages_needs
from runs.queries.clock import db_now
from runs.rules import hours
from runs.rules.hours import HEIGHT, HOUR, HOURS, STACK, Begun, hour_named, hours_of
from runs.views import now
from tests.dashboard.builders import a_person, many_runs

NOW = datetime(2026, 3, 29, 14, 20, tzinfo=UTC)
BAR = re.compile(r'href="(/runs/\?started=[^"]+)"')


def begun(hours_ago: int, state: str, amount: int = 1) -> Begun:
    return Begun(start=NOW - HOUR * hours_ago, state=state, amount=amount)


@pytest.mark.one_database
def test_each_hour_has_a_bar_also_where_nothing_began() -> None:
    found = hours_of([begun(0, "failed"), begun(23, "succeeded", 3)], now=NOW)

    assert len(found.bars) == HOURS
    assert [bar.amount for bar in found.bars] == [3, *[0] * 22, 1]
    assert found.bars[-1].says == "1 run started: 1 failed"
    assert found.bars[0].start == hours.since(NOW) == datetime(2026, 3, 28, 15, tzinfo=UTC)
    assert dict(found.states) == {"succeeded": 3, "failed": 1}


@pytest.mark.one_database
def test_one_that_failed_is_seen_among_thousands_and_no_bar_is_higher_than_the_drawing() -> None:
    every = ("succeeded", "running", "waiting", "failed", "paused", "queued")
    found = hours_of(
        [*(begun(2, state) for state in every), begun(1, "failed"), begun(1, "succeeded", 9_000)],
        now=NOW,
    )

    full, crowded = found.bars[-2], found.bars[-3]
    assert [part.family for part in crowded.parts] == list(STACK)
    assert all(part.height >= hours.LEAST for bar in found.bars for part in bar.parts)
    assert 0 <= full.parts[-1].y < full.parts[0].y
    assert full.parts[0].y + full.parts[0].height == HEIGHT


@pytest.mark.one_database
def test_an_hour_is_named_in_an_address_and_nothing_else_is() -> None:
    bar = hours_of([begun(5, "running")], now=NOW).bars[-6]

    assert hour_named(bar.name) == bar.start
    wrong = ("", "7d", "2026-03-29", "2026-03-29T25Z", "9999-12-31T23Z", "0001-01-01T00Z")
    assert [hour_named(name) for name in wrong] == [None] * len(wrong)


@pytest.mark.django_db
def test_each_bar_leads_to_just_the_runs_of_its_hour(client: Client) -> None:
    client.force_login(a_person())
    half_past = db_now().replace(minute=30)
    many_runs(1, state="failed", ended_at=None, created_at=half_past)
    for ago in range(1, 4):
        many_runs(1, reference=f"earlier {ago},", created_at=half_past - HOUR * ago)

    page = client.get("/").text
    lists = [client.get(url).text for url in BAR.findall(page)]

    assert "4 runs, as they stand now:" in page
    assert "1 run started: 1 failed" in page
    assert [re.findall(r">((?:run|earlier \d,) 0)</a>", each) for each in lists] == [
        ["earlier 3, 0"],
        ["earlier 2, 0"],
        ["earlier 1, 0"],
        ["run 0"],
    ]
    assert all(re.search(r"<option[^>]* selected>\d\d \w{3} \d\d:00 to", each) for each in lists)


@pytest.mark.django_db
def test_where_nothing_began_the_page_says_so_whatever_began_before_or_elsewhere(
    client: Client,
) -> None:
    client.force_login(a_person())
    many_runs(1, tenant="elsewhere")
    many_runs(1, created_at=db_now() - timedelta(days=2))

    assert "No run was started in the last 24 hours." in client.get("/now/").text
    assert client.get("/runs/?started=2026-03-29T25Z").status_code == 422


@pytest.mark.django_db
def test_bars_that_cannot_be_loaded_blank_nothing_else(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError("the table is gone")

    monkeypatch.setattr(pages_needs, "hours_until", broken)
    many_runs(1)
    client.force_login(a_person())

    page = client.get("/")

    assert "Could not load the last 24 hours." in page.text
    assert "Ended last" in page.text


@pytest.mark.django_db
def test_more_than_are_counted_are_said_to_be_more(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages_needs, "MOST_BY_HOUR", 2)
    many_runs(3)
    client.force_login(a_person())

    assert "2 runs, the newest of more, as they stand now:" in client.get("/now/").text


@pytest.mark.django_db
def test_it_is_counted_anew_every_half_minute_and_not_earlier(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.force_login(a_person())

    def asked(at: datetime) -> Any:
        monkeypatch.setattr(now, "db_now", lambda: at)
        headers = {"HX-Request": "true"}
        return client.get(f"/now/?v={int(NOW.timestamp()) // now.SECONDS}", headers=headers)

    assert asked(NOW + timedelta(seconds=29)).status_code == 204
    assert asked(NOW + timedelta(seconds=30)).status_code == 200
