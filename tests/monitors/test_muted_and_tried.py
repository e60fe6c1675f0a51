"""A monitor is muted with an end, and sent a test ping, by page."""

import pytest
from django.test import Client
from django.urls import reverse

from monitors.models import MaintenanceWindow
from runs.models import AuditEvent
from tests.dashboard.builders import a_person
from tests.monitors.test_monitor_pages import page, post
from tests.monitors.troubles import a_monitor, titles, turns
from tests.support import runs

pytestmark = pytest.mark.django_db


@pytest.fixture
def operating(client: Client) -> Client:
    runs.the_tenant()
    client.force_login(a_person("omar", "operate"))
    return client


def test_it_is_muted_with_an_end_and_unmuted(operating: Client) -> None:
    monitor = a_monitor()
    one = monitor.pk
    assert f'href="/monitors/{one}/#mute"' in page(operating, "monitor_list")
    assert post(operating, "monitor_mute", one) == 302
    assert "It was not muted. Say either" in page(operating, "monitor_show", one)
    assert post(operating, "monitor_mute", one, until_at="2020-01-01 00:00") == 302
    assert "It was not muted." in page(operating, "monitor_show", one)

    assert post(operating, "monitor_mute", one, lasts="4", note="new disks") == 302

    shown = page(operating, "monitor_show", one)
    assert "<strong>Muted</strong> until" in shown
    assert "new disks" in shown
    listed = page(operating, "monitor_list")
    assert "muted until" in listed
    assert "#mute" not in listed
    turns(monitor, "silent")
    assert titles() == []
    assert post(operating, "monitor_unmute", one) == 302
    assert "<strong>Muted</strong>" not in page(operating, "monitor_show", one)


def test_all_that_have_a_tag_are_muted_together_and_told_of_again_together(
    operating: Client,
) -> None:
    first, second, other = (
        a_monitor(name, tags=tags)
        for name, tags in (("one", "nightly"), ("two", "nightly mail"), ("three", "nightly-not"))
    )
    address = reverse("monitors:tag_mute", args=["nightly"])
    assert "Mute the 2 monitors tagged" in operating.get("/monitors/?tag=nightly").text
    assert (
        operating.post(reverse("monitors:tag_mute", args=["none"]), {"lasts": "4"}).status_code
        == 404
    )
    assert "Nothing was muted. Say either" in operating.post(address, {}, follow=True).text

    said = operating.post(address, {"lasts": "4", "note": "new disks"}, follow=True).text

    assert "2 monitors muted" in said
    assert "<strong>Muted</strong>" in page(operating, "monitor_show", first.pk)
    assert "<strong>Muted</strong>" not in page(operating, "monitor_show", other.pk)
    shown = page(operating, "monitor_show", second.pk)
    assert "End it now for all with this tag" in shown
    window = MaintenanceWindow.objects.get()
    assert post(operating, "window_remove", second.pk, window.pk) == 302
    assert "<strong>Muted</strong>" not in page(operating, "monitor_show", first.pk)


@pytest.mark.parametrize(
    ("says", "state", "told"),
    [
        ("success", "up", "it counts as a sign of life"),
        ("fail", "down", "people are called as for a real one"),
        ("log", "new", "changed nothing else"),
        ("ignored", "new", "Nothing was sent"),
    ],
)
def test_a_test_ping_is_taken_as_one_from_outside_and_says_what_it_did(
    operating: Client, says: str, state: str, told: str
) -> None:
    monitor = a_monitor(state="new", verdict="", post_only=True)

    assert post(operating, "monitor_try", monitor.pk, kind=says) == 302

    monitor.refresh_from_db()
    assert monitor.state == state
    shown = page(operating, "monitor_show", monitor.pk)
    assert told in shown
    assert ("a test by omar" in shown) == (says != "ignored")
    assert AuditEvent.objects.filter(kind="monitor.tried").count() == (says != "ignored")


def test_a_test_ping_that_does_not_count_says_so(operating: Client) -> None:
    beaten, paused = a_monitor(fence=3, beat_number=1), a_monitor("other", state="new")
    post(operating, "monitor_pause", paused.pk, lasts="1")
    ours = a_monitor("w-1", kind="worker", subject="w-1")

    post(operating, "monitor_try", beaten.pk, kind="success")
    post(operating, "monitor_try", paused.pk, kind="success")

    shown = page(operating, "monitor_list")
    assert "ping 1: it is kept among its beats and did not count" in shown
    assert "this monitor takes no notice of it" in shown
    assert post(operating, "monitor_try", ours.pk, kind="log") == 409
    assert "Send a test ping" not in page(operating, "monitor_show", ours.pk)
