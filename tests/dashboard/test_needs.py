"""The first page: one list by the cost of delay, from sources that fail each alone."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from runs.queries.clock import db_now
from runs.rules.policy import Actor
from runs.web import needs
from runs.web.needs import Need
from tests.dashboard.builders import a_person

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _own_sources(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(needs, "_sources", {})
    monkeypatch.setattr(needs, "_counts", {})


def a_need(key: str, *, hours_old: int = 1, hours_left: int | None = None, **more: Any) -> Need:
    now = db_now()
    deadline = None if hours_left is None else now + timedelta(hours=hours_left)
    said: dict[str, Any] = {
        "key": key,
        "family": "failed",
        "glyph": "failed",
        "sentence": f"This is {key}.",
        "url": f"/somewhere/{key}/",
        "action": "Look",
        "since": now - timedelta(hours=hours_old),
        "deadline": deadline,
    }
    return Need(**said | more)


def somebody() -> Actor:
    return Actor(kind="user", name="mara")


def broken(_actor: Actor) -> list[Need]:
    raise RuntimeError("the table is gone")


def test_what_has_a_deadline_comes_first_then_what_has_waited_longest() -> None:
    needs.register("old things", lambda _: [a_need("young"), a_need("old", hours_old=9)])
    needs.register(
        "urgent things", lambda _: [a_need("later", hours_left=8), a_need("soon", hours_left=1)]
    )

    found = needs.needs(somebody())

    assert [one.key for one in found.yours] == ["soon", "later", "old", "young"]


def test_what_others_have_to_do_stands_apart() -> None:
    needs.register("things", lambda _: [a_need("mine"), a_need("theirs", yours=False)])

    found = needs.needs(somebody())

    assert ([one.key for one in found.yours], [one.key for one in found.others]) == (
        ["mine"],
        ["theirs"],
    )


def test_a_source_that_fails_is_named_and_blanks_no_other(client: Client) -> None:
    needs.register("broken things", broken)
    needs.register("things", lambda _: [a_need("mine", about="order-7", about_url="/runs/")])
    client.force_login(a_person())

    page = client.get("/")

    assert page.status_code == 200
    assert "Could not load broken things." in page.text
    assert "This is mine." in page.text
    assert "order-7" in page.text


def test_nothing_looks_well_while_something_could_not_be_asked(client: Client) -> None:
    needs.register("broken things", broken)
    client.force_login(a_person())

    assert "Nothing needs you" not in client.get("/").text


def test_the_page_is_new_when_a_need_is() -> None:
    needs.register("things", lambda _: [a_need("one")])
    before = needs.needs(somebody()).version
    needs.register("things", lambda _: [a_need("two")])

    assert needs.needs(somebody()).version != before


def test_no_source_can_flood_the_page() -> None:
    needs.register("things", lambda _: [a_need(str(number)) for number in range(200)])

    assert len(needs.needs(somebody()).yours) == needs.SHOWN


def test_counts_add_up_on_every_page_and_one_that_fails_is_left_out(client: Client) -> None:
    needs.register("things", lambda _: [], count=lambda _: 3, place="runs:run_list")
    needs.register("more things", lambda _: [], count=lambda _: 4)
    needs.register("broken things", lambda _: [], count=broken_count)
    client.force_login(a_person())

    waiting = {place: count for place, count in needs.waiting(somebody()).items() if count}
    assert waiting == {"home": 7, "runs:run_list": 3, "": 4}
    assert '<span class="count">7</span>' in client.get("/workers/").text


def broken_count(_actor: Actor) -> int:
    raise RuntimeError("the table is gone")
