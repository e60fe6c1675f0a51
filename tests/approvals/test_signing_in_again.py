"""What cannot be undone takes a sign-in of the last 15 minutes: a password, or a fresh link."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client

from approvals.models import Vote
from config.signin_links import link_for
from runs.queries.clock import db_now
from runs.web.proofs import SIGNED_IN_AT
from tests.approvals.builders import a_decision, a_person, acting, again
from tests.approvals.reading import at, filled, signed_in, text_of

pytestmark = pytest.mark.django_db(transaction=True)


def signed_in_before(person: User, minutes: float) -> Client:
    client = signed_in(person)
    session = client.session
    session[SIGNED_IN_AT] = (db_now() - timedelta(minutes=minutes)).isoformat()
    session.save()
    return client


def with_password(name: str = "mara") -> User:
    person = a_person(name)
    person.set_password("correct horse")
    person.save()
    return person


def test_a_sign_in_of_the_last_minutes_is_enough() -> None:
    client, decision = signed_in_before(with_password(), 14), a_decision()

    page = text_of(client.get(at(decision)))

    assert "Your password" not in page
    assert client.post(at(decision, "answers/"), filled(decision)).status_code == 302


def test_an_older_one_takes_the_password_once_more() -> None:
    client, decision = signed_in_before(with_password(), 16), a_decision()

    page = text_of(client.get(at(decision)))
    without = client.post(at(decision, "answers/"), filled(decision))
    wrong = client.post(at(decision, "answers/"), filled(decision, password="wrong horse"))
    state = again(decision).state
    right = client.post(at(decision, "answers/"), filled(decision, password="correct horse"))

    assert "You signed in more than 15 minutes ago." in page
    assert (without.status_code, wrong.status_code, right.status_code) == (422, 422, 302)
    assert "show once more that it is you" in text_of(without)
    assert "This is not your password." in text_of(wrong)
    assert state == "open"
    assert Vote.objects.get().by == "mara"


def test_a_password_that_was_right_is_not_asked_for_again() -> None:
    client, decision = signed_in_before(with_password(), 60), a_decision()
    client.post(at(decision, "answers/"), filled(decision, confirm="", password="correct horse"))

    assert client.post(at(decision, "answers/"), filled(decision)).status_code == 302


def test_five_wrong_passwords_end_the_session() -> None:
    client, decision = signed_in_before(with_password(), 60), a_decision()
    for _ in range(5):
        client.post(at(decision, "answers/"), filled(decision, password="guess"))

    assert client.get(at(decision)).headers["Location"].startswith("/signin/")


def test_who_has_no_password_follows_a_fresh_link() -> None:
    person = a_person("link")
    person.set_unusable_password()
    person.save()
    client, decision = signed_in_before(person, 60), a_decision()
    page = text_of(client.get(at(decision)))
    before = client.post(at(decision, "answers/"), filled(decision))
    person.refresh_from_db()

    client.post(link_for(person, site=""))

    assert "manage.py signin link" in page
    assert before.status_code == 422
    assert client.post(at(decision, "answers/"), filled(decision)).status_code == 302


def test_what_can_be_undone_or_sends_nothing_takes_no_password() -> None:
    client = signed_in_before(with_password(), 600)
    first, second = a_decision(), a_decision("question", group="approvers")

    no = client.post(at(first, "answers/"), filled(first, "reject"))
    told = client.post(
        at(second, "answers/"), filled(second, "refuse", **{"field-amount": "1", "confirm": ""})
    )

    assert (no.status_code, told.status_code) == (302, 302)


def test_a_session_that_does_not_say_when_it_began_is_an_old_one() -> None:
    client, decision = signed_in(with_password()), a_decision()
    session = client.session
    del session[SIGNED_IN_AT]
    session.save()

    assert client.post(at(decision, "answers/"), filled(decision)).status_code == 422
    assert acting(User.objects.get(username="mara")).signed_in_at is None
