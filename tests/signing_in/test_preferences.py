"""How a person likes to read: kept for them, there from the first byte, and brought to every browser."""

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from runs.models import Preference
from runs.rules.preferences import chosen
from tests.dashboard.addresses import somebody

pytestmark = pytest.mark.django_db
ALL = {
    "theme": "dark",
    "density": "compact",
    "time": "local",
    "place": "Europe/Berlin",
    "keys": "off",
    "landing": "runs",
}


@pytest.fixture
def olga() -> User:
    person = somebody("olga", "viewers")
    person.set_password("a long enough one")
    person.save()
    return person


def signed_in(client: Client) -> str:
    """Where signing in leads."""
    sent = {"username": "olga", "password": "a long enough one"}
    return client.post(reverse("signin"), sent).headers["Location"]


def test_they_follow_a_person_to_another_browser_and_replace_what_another_left_there(
    olga: User,
) -> None:
    first, second = Client(), Client()
    first.force_login(olga)
    second.cookies["theme"] = "light"

    kept = first.post(reverse("runs:preferences"), ALL)
    first.post(reverse("runs:preferences"), {"theme": "system", "next": "/runs/"})
    landed = signed_in(second)
    page = second.get(landed).text

    assert kept.headers["Location"] == reverse("runs:preferences")
    assert landed == "/runs/"
    assert 'data-density="compact"' in page
    assert 'data-keys="off"' in page
    assert "Times in Europe/Berlin" in page
    assert "data-theme" not in page.partition(">")[0] + page.partition("<head>")[0]


def test_who_never_chose_lands_on_what_needs_somebody_and_sees_what_is_usual(olga: User) -> None:
    client = Client()
    client.cookies["density"] = "compact"

    assert signed_in(client) == "/"
    assert "data-density" not in client.get("/").text
    assert not Preference.objects.exists()


def test_the_page_shows_what_holds_and_says_which_zone_there_is_not(olga: User) -> None:
    client = Client()
    client.force_login(olga)
    client.post(reverse("runs:preferences"), ALL)

    page = client.get(reverse("runs:preferences")).text
    wrong = client.post(reverse("runs:preferences"), {**ALL, "place": "Mars/Base"})

    assert '<option value="compact" selected>' in page
    assert 'value="Europe/Berlin"' in page
    assert wrong.status_code == 422
    assert "No zone has this name." in wrong.text
    assert Preference.objects.get(user=olga).choices == ALL


def test_only_what_may_be_chosen_is() -> None:
    said = {"theme": "pink", "keys": "off", "landing": "/evil", "place": "Mars/Base", "next": "/"}

    assert chosen(said, zones={"UTC"}) == {"keys": "off"}
    assert chosen({"place": ""}, zones={"UTC"}) == {"place": ""}
