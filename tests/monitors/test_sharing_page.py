"""The page on which keys are made, a status page is kept and badges are found; who may do what there."""

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from monitors.models import PingKey, StatusPage
from monitors.rules.addresses import pinged
from tests.dashboard.builders import a_person
from tests.monitors.pinged import a_monitor

pytestmark = pytest.mark.django_db
SHARING = "/monitors/sharing/"


@pytest.fixture
def operator(client: Client) -> Client:
    client.force_login(a_person("omar", "operate"))
    return client


def test_a_key_is_shown_once(operator: Client) -> None:
    a_monitor(slug="backup")

    made = operator.post(f"{SHARING}keys/").content.decode()

    key = re.findall(r"/ping/([\w-]{22})/", made)[0]
    assert operator.get(f"/ping/{key}/backup").status_code == 200
    assert key not in operator.get(SHARING).content.decode()
    assert key[:4] in operator.get(SHARING).content.decode()


def test_a_key_is_ended_on_the_page(operator: Client) -> None:
    operator.post(f"{SHARING}keys/")

    operator.post(f"{SHARING}keys/{PingKey.objects.get().pk}/endings/")
    again = operator.post(f"{SHARING}keys/{PingKey.objects.get().pk}/endings/", follow=True)

    assert "There is none." in operator.get(SHARING).content.decode()
    assert "it has ended already" in again.content.decode()


def test_a_status_page_is_published_and_its_badges_are_found(operator: Client) -> None:
    a_monitor(public=True, tags="web")

    operator.post(f"{SHARING}page/", {"title": "Acme", "slug": "acme", "published": "on"})
    shown = operator.get(SHARING).content.decode()

    badges = re.findall(r'src="(/badge/[^"]+)"', shown)
    assert [Client().get(path).status_code for path in badges] == [200, 200]
    assert "Nightly backup" in Client().get("/status/acme/").content.decode()
    operator.post(f"{SHARING}badges/")
    assert badges[0] not in operator.get(SHARING).content.decode()
    assert StatusPage.objects.get().badge_round == 2


def test_an_address_that_none_can_have_is_refused_beside_its_field(operator: Client) -> None:
    answer = operator.post(f"{SHARING}page/", {"title": "Acme", "slug": "Acme!"})

    assert answer.status_code == 422
    assert "small letters" in answer.content.decode()
    assert 'value="Acme!"' in answer.content.decode()


def test_who_may_not_operate_sees_it_and_changes_nothing(client: Client) -> None:
    client.force_login(a_person("lena"))

    assert client.get(SHARING).status_code == 200
    assert '<button class="button">Make a key' not in client.get(SHARING).content.decode()
    for path in ("keys/", "keys/1/endings/", "page/", "badges/"):
        assert client.post(SHARING + path).status_code == 403
    assert not PingKey.objects.exists()


def test_another_tenants_page_is_not_there(operator: Client) -> None:
    assert operator.get(SHARING, {"tenant": "elsewhere"}).status_code == 404


@pytest.mark.one_database
def test_no_page_of_the_site_can_be_taken_for_a_ping() -> None:
    paths = list(_paths(get_resolver(), "/"))

    assert len(paths) > 50
    assert not [path for path in paths if pinged(path)]


def test_a_form_elsewhere_still_needs_its_token() -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(a_person("omar", "operate"))

    assert strict.post(f"{SHARING}keys/").status_code == 403


def _paths(resolver: Any, prefix: str) -> Any:
    """Every address of the site, with something plausible in each place."""
    for each in resolver.url_patterns:
        place = re.sub(r"<(?:int:)?\w+_id>", "17", str(each.pattern))
        place = re.sub(r"<[^>]+>", "something", place)
        if isinstance(each, URLResolver):
            yield from _paths(each, prefix + place)
        elif isinstance(each, URLPattern):
            yield prefix + place
