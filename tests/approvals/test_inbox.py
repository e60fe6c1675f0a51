"""The list of decisions: mine, those of others, those that are closed."""

import re

import pytest
from django.contrib.auth.models import User

from approvals.ledger import claiming
from tests.approvals.builders import (
    a_decision,
    a_person,
    acting,
    decide,
)
from tests.approvals.reading import HTMX, at, signed_in, text_of

pytestmark = pytest.mark.django_db(transaction=True)


def listed(page: str) -> list[int]:
    return [int(pk) for pk in re.findall(r'id="decision-(\d+)"', page)]


def tab(person: User, name: str, more: str = "") -> list[int]:
    return listed(signed_in(person).get(f"/decisions/?tab={name}{more}").content.decode())


def test_the_list_has_mine_and_those_of_other_groups_apart() -> None:
    mara = a_person("mara")
    mine, others = a_decision(), a_decision("question", group="bankers")

    assert listed(signed_in(mara).get("/decisions/").content.decode()) == [mine.pk]
    assert tab(mara, "others") == [others.pk]


def test_what_somebody_else_reads_stands_apart_while_they_do() -> None:
    mara, nora = a_person("mara"), a_person("nora")
    decision = a_decision()

    claiming.claim(acting(nora), decision.pk)

    assert (tab(mara, "mine"), tab(mara, "reading")) == ([], [decision.pk])
    assert (tab(nora, "mine"), tab(nora, "reading")) == ([decision.pk], [])
    claiming.release(acting(nora), decision.pk)
    assert (tab(mara, "mine"), tab(mara, "reading")) == ([decision.pk], [])


def test_an_administrator_finds_everything_in_one_tab_and_nothing_twice() -> None:
    root = User.objects.create_superuser("root")
    decisions = [a_decision(), a_decision("question", group="bankers")]

    found = [tab(root, name) for name in ("mine", "reading", "others", "closed")]

    assert (sorted(found[0]), found[1:]) == ([one.pk for one in decisions], [[], [], []])


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("workflow=question", ["question"]),
        ("kind=plan", ["payments"]),
        ("risk=irreversible", ["payments"]),
        ("risk=reversible", ["question"]),
        ("q=SETTLE", ["payments"]),
        ("q=nothing+like+it", []),
        ("kind=", ["payments", "question"]),
    ],
)
def test_the_filter_stands_in_the_address(asked: str, expected: list[str]) -> None:
    mara = a_person("mara")
    asked_of = {name: a_decision(name) for name in ("payments", "question")}

    found = tab(mara, "mine", f"&{asked}")

    assert sorted(found) == sorted(asked_of[name].pk for name in expected)


def test_a_filter_that_is_none_is_said_and_the_list_stays() -> None:
    decision = a_decision()

    page = signed_in(a_person()).get("/decisions/?kind=made-up")

    assert page.status_code == 422
    assert listed(page.content.decode()) == [decision.pk]


def test_tabs_say_how_many_by_the_query_of_their_list() -> None:
    mara = a_person("mara")
    a_decision()
    a_decision("question", group="bankers")

    page = signed_in(mara).get("/decisions/?workflow=payments").content.decode()

    amounts = re.findall(r'id="tab-(\w+)"[^>]*>[^<]*<span class="amount">(\d+)<', page)
    assert amounts == [("mine", "1"), ("reading", "0"), ("others", "0"), ("closed", "0")]


def test_the_list_shows_what_was_decided_lately() -> None:
    person = a_person()
    decision = a_decision()
    decide(acting(person), decision)

    page = text_of(signed_in(person).get("/decisions/?tab=closed"))

    assert "approved by mara" in page
    assert tab(person, "closed", "&within=30d") == [decision.pk]


def test_an_empty_list_says_how_one_is_told() -> None:
    page = text_of(signed_in(a_person()).get("/decisions/"))

    assert "No decisions wait for you." in page


def test_a_long_list_is_turned_page_by_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("approvals.queries.inbox.PAGE", 2)
    mara = signed_in(a_person())
    decisions = [a_decision("question") for _ in range(3)]

    first = mara.get("/decisions/").content.decode()
    older = re.search(r'href="(\?at=[^"]+)"', first)
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
