"""The pages of incidents: what is wrong, who was told, and what a person does about it."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from monitors.models import Incident
from runs.models import Message, Tenant
from runs.queries.clock import db_now
from tests.dashboard.builders import a_person
from tests.monitors.test_monitor_pages import page, post
from tests.monitors.troubles import a_monitor, the_incident, turns
from tests.support import runs
from tests.telling.builders import a_row

pytestmark = pytest.mark.django_db


@pytest.fixture
def operating(client: Client) -> Client:
    runs.the_tenant()
    a_row("ops")
    client.force_login(a_person("omar", "operate"))
    return client


def test_without_any_it_says_so(operating: Client) -> None:
    assert "No open incidents." in page(operating, "incident_list")
    assert "There has been none." in page(operating, "incident_list")


def test_a_row_says_how_bad_what_since_when_how_many_and_whose(operating: Client) -> None:
    turns(a_monitor("one"), "silent", workflow="sync")
    turns(a_monitor("two"), "silent", workflow="sync")
    turns(a_monitor("three"), "slow")

    text = page(operating, "incident_list")

    assert "2 incidents are open." in text
    assert text.index("one sends nothing") < text.index("three beats")
    assert "nobody" in text
    assert "ops: on its way since" in text


def test_a_failed_delivery_is_shown_with_why_and_when_next(operating: Client) -> None:
    turns(a_monitor(), "silent")
    Message.objects.update(error="connection refused", attempts=3)

    text = page(operating, "incident_show", the_incident().pk)

    assert "<strong>failed</strong> 3 times" in text
    assert "connection refused" in text


def test_who_takes_it_on_may_take_that_back(operating: Client) -> None:
    turns(a_monitor(), "silent")
    one = the_incident().pk

    assert post(operating, "incident_ack", one, note="mine", expected_version=2) == 302
    shown = page(operating, "incident_show", one)
    assert "omar has it in hand since" in shown
    assert 'name="expected_version" value="3"><button class="button">Undo</button>' in shown
    assert "Take that back" in page(operating, "incident_show", one)
    assert post(operating, "incident_reopen", one, expected_version=2) == 409
    assert post(operating, "incident_reopen", one, expected_version=3) == 302
    assert "nobody's hands" in page(operating, "incident_show", one).replace("&#x27;", "'")


def test_what_joins_it_in_somebodys_hands_gives_it_back_and_the_page_says_so(
    operating: Client,
) -> None:
    turns(a_monitor("one"), "silent", workflow="sync")
    one = the_incident().pk
    post(operating, "incident_ack", one, note="on it")
    assert "unless it gets worse or something new joins it" in page(operating, "incident_show", one)

    turns(a_monitor("two"), "silent", workflow="sync")

    shown = page(operating, "incident_show", one)
    assert "Then something new joined it or it got worse, so people were told once more" in shown
    assert "New in what omar has in hand: two sends nothing" in shown
    assert "nobody" in page(operating, "incident_list")


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ({"lasts": "4"}, 302),
        ({"until_at": "2000-01-01 09:00"}, 422),
        ({}, 422),
        ({"lasts": "4", "until_at": "2030-01-01 09:00"}, 422),
    ],
)
def test_a_snooze_has_one_end(operating: Client, said: dict[str, str], status: int) -> None:
    turns(a_monitor(), "silent")

    assert post(operating, "incident_snooze", the_incident().pk, **said) == status

    text = page(operating, "incident_show", the_incident().pk)
    assert ("put it off until" in text) == (status == 302)
    assert ("Undo</button>" in text) == (status == 302)


def test_what_was_in_somebodys_hands_is_not_taken_from_them_by_an_undo(operating: Client) -> None:
    turns(a_monitor(), "silent")
    one = the_incident().pk
    post(operating, "incident_snooze", one, lasts="4")
    assert "Undo</button>" in page(operating, "incident_show", one)

    post(operating, "incident_ack", one)

    assert "Undo</button>" not in page(operating, "incident_show", one)


def test_it_is_resolved_and_shown_among_those_that_are_over(operating: Client) -> None:
    turns(a_monitor(), "silent")
    one = the_incident().pk

    assert post(operating, "incident_resolve", one, note="known", expected_version=2) == 302

    assert "ended by omar: known" in page(operating, "incident_show", one)
    assert "No open incidents." in page(operating, "incident_list")
    assert "backup sends nothing" in page(operating, "incident_list")
    assert post(operating, "incident_ack", one, note="") == 409


def test_who_may_not_operate_sees_no_buttons_and_is_refused(client: Client) -> None:
    turns(a_monitor(), "silent")
    client.force_login(a_person("lena"))
    one = the_incident().pk

    assert "Acknowledge" not in page(client, "incident_show", one)
    for name in ("ack", "snooze", "reopen", "resolve"):
        assert post(client, f"incident_{name}", one) == 403
        assert client.get(reverse(f"monitors:incident_{name}", args=[one])).status_code == 405


def test_another_tenants_incident_is_not_there(operating: Client) -> None:
    other = Tenant.objects.create(slug="other", name="Other")
    turns(a_monitor("theirs", tenant=other), "silent")
    one = the_incident().pk

    page(operating, "incident_show", one, status=404)
    for name in ("ack", "reopen", "resolve"):
        assert post(operating, f"incident_{name}", one) == 404
    assert post(operating, "incident_snooze", one, lasts="1") == 404
    assert "theirs" not in page(operating, "incident_list")


def test_the_first_page_shows_it_with_its_verdict(operating: Client) -> None:
    turns(a_monitor(), "silent")

    text = operating.get("/").content.decode()

    assert "backup sends nothing since its time" in text
    assert "#silent" in text


def test_over_incidents_come_in_slices(operating: Client) -> None:
    now = db_now()
    made: dict[str, Any] = {"tenant": runs.the_tenant(), "kind": "monitor", "severity": "warning"}
    Incident.objects.bulk_create(
        Incident(
            **made,
            sentence=f"number {number}.",
            state="resolved",
            resolved_by="tests",
            resolved_at=now,
            opened_at=now - timedelta(minutes=number),
            last_at=now,
        )
        for number in range(60)
    )

    first = operating.get(reverse("monitors:incident_list"))
    older = operating.get(reverse("monitors:incident_list") + first.context["older_url"])

    assert "number 49." in first.content.decode()
    assert "number 50." not in first.content.decode()
    assert "number 59." in older.content.decode()
