"""The list of decisions: mine, those of others, those that are closed."""

import re

import pytest
from django.contrib.auth.models import User

from tests.approvals.builders import (
    a_decision,
    a_person,
    acting,
    decide,
)
from tests.approvals.reading import HTMX, at, signed_in, text_of

pytestmark = pytest.mark.django_db(transaction=True)


def test_the_list_has_mine_and_those_of_other_groups_apart() -> None:
    mara = signed_in(a_person("mara"))
    mine, others = a_decision(), a_decision("question", group="bankers")

    page = mara.get("/decisions/")

    yours, rest = page.content.decode().split('id="others"')
    assert at(mine) in yours
    assert at(others) not in yours
    assert at(others) in rest


def test_an_administrator_finds_everything_in_one_list_and_nothing_twice() -> None:
    root = signed_in(User.objects.create_superuser("root"))
    decision = a_decision()

    page = root.get("/decisions/").content.decode()

    assert page.count(f'id="decision-{decision.pk}"') == 1
    assert 'id="others"' not in page


def test_the_list_shows_what_was_decided_lately() -> None:
    person = a_person()
    decision = a_decision()
    decide(acting(person), decision)

    page = text_of(signed_in(person).get("/decisions/"))

    assert "Closed in the last 7 days" in page
    assert "approved by mara" in page


def test_an_empty_list_says_how_one_is_told() -> None:
    page = text_of(signed_in(a_person()).get("/decisions/"))

    assert "No decisions wait for you." in page


def test_a_long_list_is_turned_page_by_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("approvals.queries.inbox.PAGE", 2)
    mara = signed_in(a_person())
    decisions = [a_decision("question") for _ in range(3)]

    first = mara.get("/decisions/").content.decode()
    older = re.search(r'href="(\?yours=[^"]+)"', first)
    assert older
    second = mara.get("/decisions/" + older[1].replace("&amp;", "&")).content.decode()

    shown = [[at(one) in page for one in decisions] for page in (first, second)]
    assert shown == [[True, True, False], [False, False, True]]


def test_the_list_answers_204_until_something_has_happened() -> None:
    mara = signed_in(a_person())
    a_decision("question")
    first = mara.get("/decisions/").content.decode()
    version = re.search(r"/decisions/[^\"]*v=([\d-]+)", first)
    assert version
    same = f"/decisions/?v={version[1]}"

    before = mara.get(same, headers=HTMX)
    a_decision("question")
    after = mara.get(same, headers=HTMX)

    assert (before.status_code, after.status_code) == (204, 200)
    assert after.content.decode().lstrip().startswith('<div id="decisions"')
