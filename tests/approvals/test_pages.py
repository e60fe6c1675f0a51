"""What the page of a decision shows; looking again costs little, and the form is never swapped."""

import pytest
from pytest_django import DjangoAssertNumQueries

from approvals.ledger import striking
from tests.approvals.builders import (
    COMMENT,
    a_decision,
    a_person,
    acting,
    again,
    decide,
)
from tests.approvals.reading import HTMX, at, signed_in, text_of

pytestmark = pytest.mark.django_db(transaction=True)


def test_the_page_shows_all_in_the_order_in_which_it_is_weighed() -> None:
    page = text_of(signed_in(a_person()).get(at(a_decision())))

    parts = (
        "May step settle make 3 calls of shop.pay?",
        "What happened",
        "What will be sent",
        "Effect so far",
        "If you choose",
        "An approval binds 3 of 3 calls",
        "Record decision",
    )
    places = [page.index(part) for part in parts]
    assert places == sorted(places)


def test_nothing_is_preselected_and_the_digest_stands_there_whole() -> None:
    decision = a_decision()

    page = signed_in(a_person()).get(at(decision)).content.decode()

    assert "checked" not in page
    assert f">{decision.digest}</code>" in page


def test_evidence_in_many_records_is_a_table_and_what_is_empty_says_so() -> None:
    answer = signed_in(a_person()).get(at(a_decision("question")))

    assert "order A-17 paid back before none payments" in text_of(answer)
    assert '<td class="as-written phone-line" data-label="by card"><bdi>true' in answer.text


def test_the_record_stays_readable_with_who_what_and_the_comment() -> None:
    person = a_person()
    decision = a_decision()
    striking.strike(acting(person), decision.pk, ordinals=[1], struck=True)
    decide(acting(person), decision)

    page = text_of(signed_in(person).get(at(decision)))

    for part in (
        COMMENT,
        "mara, alone: nobody else",
        "2 of 3, 1 struck off",
        again(decision).approved_digest,
    ):
        assert part in page


def test_what_would_turn_the_text_around_is_shown_by_name() -> None:
    mara = signed_in(a_person())

    listed = mara.get(at(a_decision("anybody"))).content.decode()
    alone = mara.get(at(a_decision("one_call"))).content.decode()

    for page in (listed, alone):
        assert "\u202e" not in page.replace("&#x202e;", "\u202e")
        assert ">U+202E</span>" in page


def test_the_status_line_refreshes_and_the_form_never_does() -> None:
    person = a_person()
    mara = signed_in(person)
    decision = a_decision()
    same = at(decision, "status/?seen=1&v=1")

    quiet = mara.get(same, headers=HTMX)
    striking.strike(acting(person), decision.pk, ordinals=[1], struck=True)
    changed = mara.get(same, headers=HTMX)
    decide(acting(person), decision)
    closed = mara.get(same, headers=HTMX)

    assert quiet.status_code == 204
    assert "It changed since you opened this page." in text_of(changed)
    assert "Approved by mara" in text_of(closed)
    for answer in (changed, closed):
        assert "<form" not in answer.content.decode()


def test_pages_cost_the_same_however_long_the_list(
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    mara = signed_in(a_person())
    decision = a_decision(count=120)
    for _ in range(5):
        a_decision("question")
    mara.get("/decisions/")

    with django_assert_max_num_queries(36):
        mara.get("/decisions/")
    with django_assert_max_num_queries(48):
        mara.get(at(decision))
    with django_assert_max_num_queries(10):
        mara.get(at(decision, "status/?seen=1&v=1"), headers=HTMX)
