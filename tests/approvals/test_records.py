"""The page as it was shown to whoever answered: kept, unchangeable, opened years later."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import DatabaseError, connection, transaction

from approvals.models import Decision, Record, Vote
from runs.models import AuditEvent
from runs.queries.clock import db_now
from runs.queries.verify import violations
from runs.rules import canonical
from tests.approvals.builders import a_decision, a_person, acting, again, decide
from tests.approvals.reading import at, signed_in, text_of
from tests.support import runs

pytestmark = pytest.mark.django_db(transaction=True)


def an_answered(person: User, **given: str) -> Decision:
    decision = a_decision(**given)
    decide(acting(person), decision)
    return again(decision)


def test_an_answer_keeps_the_page_and_the_chain_names_its_digest() -> None:
    decision = an_answered(a_person("paula"))

    record = Record.objects.get(decision=decision)
    said = AuditEvent.objects.filter(run=decision.run_id, body__contains=record.digest)

    assert canonical.digest(record.sheet) == record.digest
    assert said.count() == 1
    assert violations([decision.run_id]) == []


def test_the_page_can_be_opened_as_it_was_whatever_has_changed_since() -> None:
    paula = a_person("paula")
    decision = an_answered(paula)
    record = Record.objects.get(decision=decision)
    Decision.objects.filter(pk=decision.pk).update(question="Something else?")

    page = text_of(signed_in(paula).get(at(decision, f"records/{record.pk}/")))

    assert decision.question in page
    assert "This is the page as paula saw it" in page
    assert "throughthe test" in page
    assert record.vote.comment in page


def test_payloads_of_a_record_are_hidden_from_those_who_may_not_see_them() -> None:
    decision = an_answered(a_person("paula"))
    record = Record.objects.get(decision=decision)
    looking = a_person("vera", permissions=["operate"])

    page = text_of(signed_in(looking).get(at(decision, f"records/{record.pk}/")))

    assert "hidden: it takes the permission “view payloads”" in page
    assert "What happened" not in page


def test_another_tenants_record_does_not_exist() -> None:
    decision = an_answered(a_person("paula"))
    record = Record.objects.get(decision=decision)
    stranger = signed_in(a_person("tom", tenant="elsewhere"))

    assert stranger.get(at(decision, f"records/{record.pk}/")).status_code == 404


@pytest.mark.parametrize("column", ["sheet", "digest"])
def test_the_database_refuses_to_change_a_record(column: str) -> None:
    an_answered(a_person("paula"))

    with pytest.raises(DatabaseError, match="I13"), transaction.atomic():
        Record.objects.update(**{column: "altered"})


@pytest.mark.parametrize("column", ["option", "comment", "fields", "digest", "by"])
def test_the_database_refuses_to_rewrite_a_vote(column: str) -> None:
    an_answered(a_person("paula"))

    with pytest.raises(DatabaseError, match="I13"), transaction.atomic():
        Vote.objects.update(**{column: "altered"})


def test_the_database_lets_no_vote_count_again_nor_come_from_elsewhere() -> None:
    paula = a_person("paula")
    an_answered(paula)
    Vote.objects.update(void_at=db_now(), void_because="taken back")

    again: list[dict[str, Any]] = [
        {"void_at": None, "void_because": ""},
        {"void_because": "something else"},
        {"address": "192.0.2.7"},
        {"voice": a_person("tom")},
    ]
    for change in again:
        with pytest.raises(DatabaseError, match="I13"), transaction.atomic():
            Vote.objects.update(**change)


def test_a_vote_outlives_the_account_it_was_given_with() -> None:
    paula = a_person("paula")
    decision = an_answered(paula)

    paula.delete()

    vote = Vote.objects.get(decision=decision)
    assert (vote.user_id, vote.by) == (None, "paula")


@pytest.mark.parametrize(
    ("damage", "expected"),
    [
        ("UPDATE approvals_record SET sheet = '{}'", "is not what its digest was made of"),
        ("UPDATE approvals_record SET digest = 'ab'", "is not named in the run's chain"),
        ("DELETE FROM approvals_record", "is gone"),
    ],
)
def test_verify_finds_a_page_that_was_altered_past_the_guards(damage: str, expected: str) -> None:
    decision = an_answered(a_person("paula"))

    with transaction.atomic(), connection.cursor() as cursor:
        runs.without_guards()
        cursor.execute(damage)
        found = [one.text for one in violations([decision.run_id])]
        transaction.set_rollback(True)

    assert any(expected in text for text in found), found
