"""Answering on the page: what is missing, too late or changed is said, and nothing is lost."""

import json
import re

import pytest

from approvals.ledger import striking
from approvals.models import Vote
from runs.models import Run
from tests.approvals.builders import (
    COMMENT,
    a_decision,
    a_person,
    acting,
    again,
    cancel,
    decide,
)
from tests.approvals.reading import at, filled, signed_in, text_of
from tests.support import runs

pytestmark = pytest.mark.django_db(transaction=True)


def test_an_approval_is_recorded_and_the_next_decision_is_offered() -> None:
    mara = signed_in(a_person())
    decision, other = a_decision(), a_decision("question")

    response = mara.post(at(decision, "answers/"), filled(decision), follow=True)

    assert response.redirect_chain == [(at(decision), 302)]
    assert "Recorded: approved. The run goes on." in text_of(response)
    assert f'href="{at(other)}">Next decision' in response.content.decode()
    vote = Vote.objects.get()
    assert (vote.by, vote.door, vote.address) == ("mara", "page", "127.0.0.1")


@pytest.mark.parametrize(
    ("left_out", "said"),
    [
        ({"option": ""}, "Choose one. Nothing is chosen for you."),
        ({"comment": " "}, "needs a comment"),
        ({"confirm": "abc"}, "Type the last 6 characters of the run"),
    ],
)
def test_what_is_missing_is_said_and_what_was_typed_is_kept(
    left_out: dict[str, str], said: str
) -> None:
    decision = a_decision()

    response = signed_in(a_person()).post(
        at(decision, "answers/"), {**filled(decision, comment="Looked at."), **left_out}
    )

    assert response.status_code == 422
    assert said in text_of(response)
    assert "Nothing was recorded." in text_of(response)
    assert "comment" in left_out or "Looked at." in text_of(response)
    assert again(decision).state == "open"


def test_the_run_may_be_confirmed_by_its_reference_too() -> None:
    decision = a_decision()
    Run.objects.filter(pk=decision.run_id).update(reference="order-8812")

    response = signed_in(a_person()).post(
        at(decision, "answers/"), filled(decision, confirm="r-8812")
    )

    assert response.status_code == 302


def test_a_form_is_filled_in_on_the_page() -> None:
    mara = signed_in(a_person())
    decision = a_decision("question")
    wrong = filled(decision, "pay_back", **{"field-amount": "a lot", "field-currency": "EUR"})

    refused = mara.post(at(decision, "answers/"), wrong)
    taken = mara.post(at(decision, "answers/"), {**wrong, "field-amount": "1200"})
    runs.drain()

    assert refused.status_code == 422
    assert "Must be a whole number." in text_of(refused)
    assert taken.status_code == 302
    assert runs.facts_of(decision.run_id)["answer"]["fields"]["amount"] == 1200


def test_the_receivers_id_is_asked_for_beside_its_own_option() -> None:
    mara = signed_in(a_person())
    decision = a_decision("wire")

    page = mara.get(at(decision)).content.decode()
    taken = mara.post(
        at(decision, "answers/"),
        filled(decision, "happened", **{"field-happened-receiver_id": "ch_55"}),
    )

    assert 'name="field-happened-receiver_id"' in page
    assert taken.status_code == 302
    assert json.loads(Vote.objects.get().fields) == {"receiver_id": "ch_55"}


def test_an_approval_of_what_somebody_else_has_changed_shows_the_difference() -> None:
    mara, ben = a_person("mara"), a_person("ben")
    decision = a_decision()
    read = filled(decision)
    striking.strike(acting(ben), decision.pk, ordinals=[3], struck=True)

    response = signed_in(mara).post(at(decision, "answers/"), read)

    said = text_of(response)
    assert response.status_code == 409
    assert "Call 3 was struck off by ben" in said
    assert decision.digest in said
    assert again(decision).digest in said
    assert COMMENT in said
    assert again(decision).state == "open"


def test_the_second_is_told_who_was_first() -> None:
    mara, ben = a_person("mara"), a_person("ben")
    decision = a_decision()
    read = filled(decision)
    decide(acting(ben), decision)

    response = signed_in(mara).post(at(decision, "answers/"), {**read, "option": ""})

    assert response.status_code == 409
    assert re.search(r"Already approved by ben at \d{4}-\d\d-\d\d", text_of(response))
    assert COMMENT in text_of(response)


def test_an_answer_that_comes_too_late_is_410() -> None:
    decision = a_decision()
    read = filled(decision)
    runs.let_it_be_due(decision.run_id)

    response = signed_in(a_person()).post(at(decision, "answers/"), read)

    assert response.status_code == 410
    assert "Already expired by the clock" in text_of(response)


def test_a_withdrawn_decision_says_why_and_takes_no_answer() -> None:
    mara = signed_in(a_person())
    decision = a_decision()
    read = filled(decision)
    cancel(decision)

    page, answer = mara.get(at(decision)), mara.post(at(decision, "answers/"), read)

    assert "Withdrawn by tests" in text_of(page)
    assert "Not wanted any more." in text_of(page)
    assert "Record decision" not in text_of(page)
    assert answer.status_code == 409
