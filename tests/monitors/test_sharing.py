"""What a tenant gives out: ping keys, maintenance windows, a status page, badges."""

import json
from datetime import timedelta

import pytest
from django.test import Client

from monitors.ledger import ping_keys, showing, windows
from monitors.ledger.ping_keys import NoSuchPingKey
from monitors.ledger.windows import WindowRefused
from monitors.models import PingKey, StatusPage
from monitors.queries.showing import badge_addresses
from monitors.queries.windows import maintained_until
from monitors.rules.windows import WindowWish
from runs.queries.clock import db_now
from tests.monitors.pinged import a_monitor
from tests.support.runs import the_operator, the_tenant

pytestmark = pytest.mark.django_db


def a_page(**more: object) -> StatusPage:
    told = {"title": "Acme", "slug": "acme", "published": True, **more}
    return showing.keep(the_operator(), **told)  # type: ignore[arg-type]


def test_a_key_is_kept_nowhere_and_pings_by_slug(client: Client) -> None:
    a_monitor(slug="backup")

    made = ping_keys.renew(the_operator())

    stored = PingKey.objects.values().get()
    assert made.key not in json.dumps(stored, default=str)
    assert client.get(f"/ping/{made.key}/backup").status_code == 200
    assert PingKey.objects.get().last_used_at is not None


def test_a_key_is_replaced_without_a_gap(client: Client) -> None:
    a_monitor(slug="backup")
    old = ping_keys.renew(the_operator())
    new = ping_keys.renew(the_operator(), overlap=timedelta(days=1))

    both = [client.get(f"/ping/{key}/backup").status_code for key in (old.key, new.key)]
    PingKey.objects.filter(pk=old.id).update(expires_at=db_now() - timedelta(seconds=1))
    later = [client.get(f"/ping/{key}/backup").status_code for key in (old.key, new.key)]

    assert (both, later) == ([200, 200], [404, 200])
    assert old.old_ones_until is None
    assert new.old_ones_until is not None


def test_a_key_that_was_ended_opens_nothing_and_ends_once(client: Client) -> None:
    a_monitor(slug="backup")
    made = ping_keys.renew(the_operator())

    ping_keys.end(the_operator(), made.id)

    assert client.get(f"/ping/{made.key}/backup").status_code == 404
    with pytest.raises(NoSuchPingKey):
        ping_keys.end(the_operator(), made.id)


def test_a_window_is_for_its_monitor_its_tag_or_all() -> None:
    now = db_now()
    web, mail = a_monitor(tags="web prod"), a_monitor(tags="mail")
    begin, end = now - timedelta(hours=1), now + timedelta(hours=1)
    of_tag = WindowWish(because="new disks", tag="web", starts_at=begin, ends_at=end)

    windows.open_window(the_operator(), of_tag)
    of_one = maintained_until([web, mail], now=now)
    every = WindowWish(because="the move", starts_at=begin, ends_at=end)
    made = windows.open_window(the_operator(), every)
    of_all = maintained_until([web, mail], now=now)
    windows.remove(the_operator(), made.pk)

    assert set(of_one) == {web.pk} == set(maintained_until([web, mail], now=now))
    assert of_all == {web.pk: end, mail.pk: end}
    assert not maintained_until([web], now=now + timedelta(hours=2))


def test_a_window_without_an_end_is_refused() -> None:
    the_tenant()

    with pytest.raises(WindowRefused) as refused:
        windows.open_window(the_operator(), WindowWish(because="x", starts_at=db_now()))

    assert set(refused.value.errors) == {"ends_at"}


def test_a_status_page_shows_only_what_was_chosen(client: Client) -> None:
    a_monitor(name="Shop", public=True, state="down", about="root password: hunter2")
    a_monitor(name="Secret project", state="down")
    a_page()

    text = client.get("/status/acme/").content.decode()

    assert "1 of 1 is down." in text
    assert "Shop" in text
    assert "Secret project" not in text
    assert "hunter2" not in text


def test_a_page_that_is_not_published_is_not_there(client: Client) -> None:
    a_page(title="Acme", published=False)

    assert client.get("/status/acme/").status_code == 404


def test_a_badge_says_the_worst_of_its_tag(client: Client) -> None:
    a_monitor(tags="web", state="up")
    a_monitor(tags="web", state="late")
    a_monitor(tags="mail/in <b>", state="down")
    of = {address.tag: address.paths for address in badge_addresses(a_page())}

    told = {tag: client.get(paths["json"]).json()["status"] for tag, paths in of.items()}
    svg = client.get(of["<b>"]["svg"])

    assert told == {"": "down", "web": "late", "mail/in": "down", "<b>": "down"}
    assert svg.headers["Content-Type"] == "image/svg+xml"
    assert svg.headers["Access-Control-Allow-Origin"] == "*"
    assert "&lt;b&gt;: down" in svg.content.decode()
    assert client.get(of["web"]["shields"]).json()["color"] == "important"


def test_the_signature_of_one_tag_opens_no_other(client: Client) -> None:
    a_monitor(tags="web mail")
    of = {address.tag: address.path for address in badge_addresses(a_page())}

    assert client.get(of["web"].replace("/web", "/mail") + ".json").status_code == 404
    assert client.get(of["web"].rpartition("/")[0] + ".json").status_code == 404


def test_badges_get_other_addresses_without_a_gap(client: Client) -> None:
    a_monitor(tags="web")
    before = badge_addresses(a_page())[0].path + ".json"

    page = showing.renew_badges(the_operator())
    during = client.get(before).status_code
    StatusPage.objects.update(badges_until=db_now() - timedelta(seconds=1))

    after = badge_addresses(page)[0].path + ".json"
    assert (during, client.get(before).status_code) == (200, 404)
    assert client.get(after).status_code == 200
