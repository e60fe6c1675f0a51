"""Signing in: a link that works once, a password once set, nothing open to strangers."""

import json
import re
from datetime import timedelta

import pytest
import time_machine
from django.contrib.auth.models import User
from django.core.management import call_command
from django.core.management.base import CommandError
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from django.utils import timezone

from config.signin_links import LinkIsVoid, first_user, link_for, redeem
from runs.web.proofs import SIGNED_IN_AT

OPEN = {"healthz", "readyz", "signin", "signin-link"}
# What was published, and what its signed address opens: the tests of sharing show what it says.
OPEN |= {"status", "badge", "badge_of"}
pytestmark = pytest.mark.django_db


def a_link() -> str:
    return link_for(first_user(), site="")


def signed_in(client: Client) -> bool:
    return "_auth_user_id" in client.session


def test_the_first_person_has_no_password_and_is_made_once() -> None:
    first_user()
    first_user()

    person = User.objects.get()
    assert person.username == "operator"
    assert person.is_superuser
    assert not person.has_usable_password()


def test_looking_at_a_link_shows_a_button_and_changes_nothing(client: Client) -> None:
    link = a_link()

    for _ in range(3):
        page = client.get(link)

    assert page.status_code == 200
    assert "Sign in as operator" in page.text
    assert not signed_in(client)


def test_pressing_the_button_signs_in_and_offers_to_set_a_password(client: Client) -> None:
    answer = client.post(a_link())

    assert signed_in(client)
    assert answer.headers["Location"] == reverse("password")
    assert "Not now" in client.get(reverse("password")).text


def test_a_used_link_lets_nobody_in(client: Client) -> None:
    link = a_link()
    client.post(link)

    stranger = Client()
    answers = [stranger.get(link), stranger.post(link)]

    assert [answer.status_code for answer in answers] == [410, 410]
    assert "no longer works" in answers[0].text
    assert not signed_in(stranger)


def test_a_link_is_void_after_an_hour(client: Client) -> None:
    link = a_link()

    with time_machine.travel(timezone.now() + timedelta(hours=1, seconds=2), tick=True):
        answer = client.post(link)

    assert answer.status_code == 410
    assert not signed_in(client)


def test_all_links_printed_before_a_sign_in_are_void_after_it(client: Client) -> None:
    client.post(a_link())
    second, third = a_link(), a_link()

    client.post(second)

    assert Client().post(third).status_code == 410


@pytest.mark.parametrize("who", ["MQ", "!!", "OTk5OTk5", "LTE", "x" * 300])
def test_an_invented_link_is_void(client: Client, who: str) -> None:
    first_user()

    assert client.get(f"/signin/{who}/c8ohl5-{'0' * 32}/").status_code == 410


def test_a_link_of_a_deactivated_person_is_void() -> None:
    person = first_user()
    who, token = link_for(person, site="").strip("/").split("/")[1:]
    User.objects.update(is_active=False)

    with pytest.raises(LinkIsVoid):
        redeem(who, token, now=timezone.now())


def test_a_password_set_after_a_link_signs_in_next_time(client: Client) -> None:
    client.post(a_link())
    secret = "correct horse battery"

    client.post(reverse("password"), {"new_password1": secret, "new_password2": secret})

    assert signed_in(client)
    again = Client()
    again.post(reverse("signin"), {"username": "operator", "password": secret})
    assert signed_in(again)


def test_a_browser_left_open_sets_no_password_to_prove_itself_with(client: Client) -> None:
    client.post(a_link())
    session = client.session
    session[SIGNED_IN_AT] = (timezone.now() - timedelta(minutes=16)).isoformat()
    session.save()

    answer = client.post(
        reverse("password"), {"new_password1": "a horse of 20", "new_password2": "a horse of 20"}
    )

    assert answer.headers["Location"] == reverse("home")
    assert not User.objects.get().has_usable_password()


def test_a_weak_password_is_refused_with_its_reasons(client: Client) -> None:
    client.post(a_link())

    page = client.post(
        reverse("password"), {"new_password1": "12345678", "new_password2": "12345678"}
    )

    assert "too common" in page.text
    assert not User.objects.get().has_usable_password()


def test_a_password_cannot_be_replaced_by_who_did_not_come_by_a_link(client: Client) -> None:
    client.force_login(first_user())

    answer = client.post(
        reverse("password"), {"new_password1": "a" * 20, "new_password2": "a" * 20}
    )

    assert answer.headers["Location"] == reverse("home")
    assert not User.objects.get().has_usable_password()


def test_signing_out_needs_a_post(client: Client) -> None:
    client.force_login(first_user())

    assert client.get(reverse("signout")).status_code == 405
    assert signed_in(client)

    client.post(reverse("signout"))
    assert not signed_in(client)


def test_nothing_is_open_to_strangers_but_signing_in_and_health(client: Client) -> None:
    def addresses(patterns: list[URLPattern | URLResolver], prefix: str = "/") -> list[str]:
        found = []
        for pattern in patterns:
            place = prefix + str(pattern.pattern)
            if isinstance(pattern, URLResolver):
                found += addresses(pattern.url_patterns, place)
            elif pattern.name not in OPEN:
                found.append(place)
        return found

    for address in addresses(get_resolver().url_patterns):
        concrete = example_of(address)
        answer = client.get(concrete)
        assert answer.status_code in {302, 405}, (address, answer.status_code)
        if answer.status_code == 302:
            assert answer.headers["Location"].startswith(reverse("signin")), address


def example_of(address: str) -> str:
    """`/runs/<uuid:run_id>/` with a value for each part."""
    values = {
        "uuid": "00000000-0000-7000-8000-000000000000",
        "int": "1",
        "str": "x",
        "slug": "x",
        "path": "x",
    }
    return re.sub(r"<(?:(\w+):)?\w+>", lambda found: values[found[1] or "str"], address)


def test_a_part_of_a_page_asked_for_after_the_session_ended_moves_the_whole_page(
    client: Client,
) -> None:
    answer = client.get(reverse("home"), headers={"HX-Request": "true"}, follow=True)

    assert answer.headers["HX-Redirect"] == reverse("signin")


def test_the_command_prints_a_link_that_works(
    client: Client, capsys: pytest.CaptureFixture[str]
) -> None:
    first_user()

    call_command("signin", "--json")

    said = json.loads(capsys.readouterr().out)
    assert said["user"] == "operator"
    client.post(said["link"])
    assert signed_in(client)


def test_the_command_names_who_there_is_when_the_name_is_wrong() -> None:
    first_user()

    with pytest.raises(CommandError, match="No active user mallory; there is: operator"):
        call_command("signin", "mallory")
