"""The pages of monitors: what a person reads of each, makes, pauses and removes there."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from monitors.ledger import windows
from monitors.models import Blindness, MaintenanceWindow, Monitor, Ping, VerdictChange
from monitors.rules.windows import WindowWish
from runs.models import Membership, Tenant
from runs.queries.clock import db_now
from runs.rules import canonical
from tests.dashboard.builders import a_person
from tests.monitors.troubles import a_monitor, turns
from tests.support import runs
from tests.telling.builders import a_row

pytestmark = pytest.mark.django_db


@pytest.fixture
def operating(client: Client) -> Client:
    runs.the_tenant()
    client.force_login(a_person("omar", "operate"))
    return client


@pytest.fixture
def looking(client: Client) -> Client:
    runs.the_tenant()
    client.force_login(a_person("lena"))
    return client


def page(client: Client, name: str, /, *given: object, status: int = 200, **query: str) -> str:
    answer = client.get(reverse(f"monitors:{name}", args=given), query)
    assert answer.status_code == status
    return answer.content.decode()


def post(client: Client, name: str, /, *given: object, **said: Any) -> int:
    return client.post(reverse(f"monitors:{name}", args=given), said).status_code


def beats(monitor: Monitor, *, amount: int, every: float = 60.0) -> None:
    now = db_now()
    Ping.objects.bulk_create(
        Ping(
            monitor=monitor,
            n=number,
            kind="success",
            at=now - timedelta(seconds=every * (amount - number)),
            method="GET",
            scheme="https",
            agent="curl/8",
        )
        for number in range(1, amount + 1)
    )
    Monitor.objects.filter(pk=monitor.pk).update(n_pings=amount, last_ping_at=now)


def judged(monitor: Monitor, verdict: str, *, state: str, ago: timedelta) -> None:
    at = db_now() - ago
    VerdictChange.objects.create(
        monitor=monitor,
        seq=monitor.seq + 1,
        was_state="up",
        state=state,
        was_verdict="alive",
        verdict=verdict,
        sentence=f"{monitor} is {verdict}.",
        advice="Look whether it still runs.",
        facts=canonical.dumps({"database": {"lives": True, "progress_at": at.isoformat()}}),
        since=at,
        at=at,
    )
    Monitor.objects.filter(pk=monitor.pk).update(state=state, verdict=verdict, seq=monitor.seq + 1)


def test_without_any_it_says_in_two_lines_how_to_begin(looking: Client) -> None:
    text = page(looking, "monitor_list")

    assert "Nothing is watched yet." in text
    assert "manage.py monitors add" in text
    assert "curl -fsS" in text


def test_what_is_down_comes_first_then_what_is_late_then_by_name(looking: Client) -> None:
    for name, state in (("alpha", "up"), ("zeta", "down"), ("mid", "late"), ("beta", "up")):
        a_monitor(name, state=state)

    text = page(looking, "monitor_list")

    places = [text.index(f">{name}</a>") for name in ("zeta", "mid", "alpha", "beta")]
    assert places == sorted(places)
    assert "1 down, 1 late, 2 up" in text
    assert "Nobody judges" in text
    assert 'class="live-region stack unsure"' in text, "unknown is grey, never green"


def test_a_row_says_what_is_expected_the_verdict_and_both_facts(looking: Client) -> None:
    monitor = a_monitor(grace=30.0)
    beats(monitor, amount=50)
    judged(monitor, "cut_off", state="down", ago=timedelta(minutes=2))

    text = page(looking, "monitor_list")

    assert "every 1 m, grace 30 s" in text
    assert "cut off" in text
    assert "backup is cut_off." in text
    assert "heartbeat" in text
    assert "lease good" in text
    assert 'aria-label="backup: 40 slots of 1 m to' in text
    assert text.count("<rect") >= 40


def test_a_slot_that_nobody_watched_is_hatched(looking: Client) -> None:
    monitor = a_monitor()
    beats(monitor, amount=10)
    now = db_now()
    Blindness.objects.create(
        from_at=now - timedelta(minutes=30),
        until_at=now - timedelta(minutes=20),
        because="the watch stood still",
        open=False,
    )

    text = page(looking, "monitor_list")

    assert "url(#unwatched)" in text
    assert "not looked at" in text


def test_the_page_of_one_says_what_to_do_and_prints_its_range(operating: Client) -> None:
    monitor = a_monitor()
    beats(monitor, amount=20)
    judged(monitor, "silent", state="down", ago=timedelta(hours=1))

    for name, slots in (
        ("24h", "96 slots of 15 m"),
        ("7d", "84 slots of 2 h"),
        ("90d", "90 slots"),
    ):
        text = page(operating, "monitor_show", monitor.pk, range=name)
        assert slots in text
        assert "backup is silent." in text
        assert "Look whether it still runs." in text
        assert "Of the last 19 gaps half were up to" in text
    assert f"/ping/{monitor.code}" in text


def test_events_are_beats_misses_or_changes_in_slices(looking: Client) -> None:
    monitor = a_monitor()
    beats(monitor, amount=60)
    judged(monitor, "slow", state="up", ago=timedelta(minutes=9))

    first = looking.get(reverse("monitors:monitor_show", args=[monitor.pk]))
    address = reverse("monitors:monitor_show", args=[monitor.pk]) + first.context["older_url"]
    older = looking.get(address).content.decode()

    assert 'id="ping-60"' in first.content.decode()
    assert 'id="ping-10"' in older
    assert "Nothing was missed." in page(looking, "monitor_show", monitor.pk, events="misses")
    assert "backup is slow." in page(looking, "monitor_show", monitor.pk, events="changes")


def test_who_may_only_look_sees_neither_buttons_nor_the_address(looking: Client) -> None:
    monitor = a_monitor()

    text = page(looking, "monitor_show", monitor.pk)

    assert str(monitor.code) not in text
    assert 'id="pause"' not in text
    assert looking.get(reverse("monitors:monitor_new")).status_code == 403
    for name in ("pause", "resume", "renew", "remove"):
        assert post(looking, f"monitor_{name}", monitor.pk) == 403
        assert (
            looking.get(reverse(f"monitors:monitor_{name}", args=[monitor.pk])).status_code == 405
        )


def asked(**more: Any) -> dict[str, Any]:
    given = {
        "name": "Nightly",
        "tenant": "default",
        "period": "3600",
        "grace": "600",
        "zone": "UTC",
    }
    return {**given, **more}


def test_the_form_previews_makes_and_changes(operating: Client) -> None:
    preview = operating.post(
        reverse("monitors:monitor_new"), asked(preview="1", period="", cron="0 2 * * *")
    ).content.decode()
    assert preview.count("<li><time") == 5
    assert not Monitor.objects.exists()

    assert post(operating, "monitor_new", **asked(tags="disks web", fail_words="error")) == 302
    made = Monitor.objects.get()
    assert (made.name, made.period, made.tags) == ("Nightly", 3600.0, "disks web")
    assert "error" in made.filters
    assert 'value="error"' in page(operating, "monitor_change", made.pk)
    changed = asked(period="60", revision=made.revision)
    assert post(operating, "monitor_change", made.pk, **changed) == 302
    assert post(operating, "monitor_change", made.pk, **changed) == 409
    made.refresh_from_db()
    assert (made.period, made.filters) == (60.0, "{}")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"period": "", "cron": "61 2 * * *"}, "Bad minute"),
        ({"zone": "Mars/Olympus"}, "There is no time zone"),
        ({"name": ""}, "This field is required"),
        ({"cron": "0 2 * * *"}, "either a period or a cron"),
    ],
)
def test_the_form_refuses_at_the_field(operating: Client, wrong: dict[str, Any], said: str) -> None:
    answer = operating.post(reverse("monitors:monitor_new"), asked(**wrong))

    assert answer.status_code == 422
    assert said in answer.content.decode()
    assert not Monitor.objects.exists()


def test_it_is_paused_with_an_end_watched_again_renewed_and_deleted(operating: Client) -> None:
    monitor = a_monitor()
    one = monitor.pk

    assert post(operating, "monitor_pause", one, lasts="", expected_version=1) == 302
    monitor.refresh_from_db()
    assert monitor.state == "up"
    assert (
        post(operating, "monitor_pause", one, lasts="4", note="moving", expected_version=1) == 302
    )
    monitor.refresh_from_db()
    assert monitor.paused_until is not None
    assert "Paused by omar until" in page(operating, "monitor_show", one)
    assert post(operating, "monitor_resume", one, expected_version=1) == 409
    assert post(operating, "monitor_resume", one, expected_version=2) == 302
    old = monitor.code
    assert post(operating, "monitor_renew", one, expected_version=3) == 302
    monitor.refresh_from_db()
    assert monitor.code != old
    assert post(operating, "monitor_remove", one, expected_version=4) == 302
    page(operating, "monitor_show", one, status=404)


def test_a_monitor_of_our_own_may_be_paused_and_not_changed(operating: Client) -> None:
    monitor = a_monitor("w-1", kind="worker", subject="w-1")

    assert post(operating, "monitor_remove", monitor.pk, expected_version=1) == 409
    assert "puts it away by itself" in page(operating, "monitor_show", monitor.pk)
    assert post(operating, "monitor_pause", monitor.pk, lasts="0", expected_version=1) == 302


def test_a_window_of_maintenance_is_made_shown_and_ended(operating: Client) -> None:
    monitor = a_monitor()
    wrong = {"because": "disks", "starts_at": "2030-01-02 09:00", "ends_at": "2030-01-01 09:00"}
    assert post(operating, "window_new", monitor.pk, **wrong) == 422

    right = wrong | {"ends_at": "2030-01-02 10:00"}
    assert post(operating, "window_new", monitor.pk, **right) == 302

    window = MaintenanceWindow.objects.get()
    assert "disks" in page(operating, "monitor_show", monitor.pk)
    assert post(operating, "window_remove", monitor.pk, window.pk) == 302
    assert post(operating, "window_remove", monitor.pk, window.pk) == 404


def test_what_is_in_maintenance_says_so(operating: Client) -> None:
    monitor, now = a_monitor(), db_now()
    wish = WindowWish(
        because="disks",
        starts_at=now - timedelta(minutes=1),
        ends_at=now + timedelta(hours=1),
        monitor_id=monitor.pk,
    )
    windows.open_window(runs.the_operator(), wish)

    assert "<strong>Muted</strong> until" in page(operating, "monitor_show", monitor.pk)


def test_a_row_shows_by_which_channels_its_absence_is_told(looking: Client) -> None:
    run_id = runs.a_run("example_log")
    a_monitor("backup")
    a_monitor("a run", kind="run", subject=str(run_id))
    a_row("night shift", kind="mail", severities=["critical"])
    a_row("of others", kind="apprise", severities=["critical"], workflows=["sync"])
    a_row("chatter", severities=["info"])
    a_row("dead", workflows=["example_log"], dead_at=db_now())

    text = page(looking, "monitor_list")

    told = dict(re.findall(r'<tr id="monitor-(\d+)".*?told-by">(.*?)</tr>', text, re.DOTALL))
    names = {pk: re.findall(r' title="([^"]+)"', cell) for pk, cell in told.items()}
    assert sorted(names.values()) == [
        ["night shift", "dead: reaches nobody"],
        ["night shift", "of others", "dead: reaches nobody"],
    ]
    assert '.svg#mail"' in text


def test_another_tenants_monitor_is_not_there(operating: Client) -> None:
    other = Tenant.objects.create(slug="other", name="Other")
    monitor = a_monitor("theirs", tenant=other)
    turns(monitor, "silent")

    for name in ("show", "change"):
        page(operating, f"monitor_{name}", monitor.pk, status=404)
    for name in ("pause", "resume", "renew", "remove", "mute", "unmute", "try"):
        assert post(operating, f"monitor_{name}", monitor.pk, lasts="1", kind="log") == 404
        assert post(operating, f"monitor_{name}", monitor.pk) == 404
    page(operating, "window_new", monitor.pk, status=404)
    assert ">theirs<" not in page(operating, "monitor_list")
    person = a_person("olga", "operate")
    Membership.objects.create(tenant=other, user=person)
    operating.force_login(person)
    assert ">theirs<" in page(operating, "monitor_list")


def test_the_places_show_how_many_are_down_and_open(client: Client) -> None:
    client.force_login(a_person("olga", "operate"))
    turns(a_monitor("one"), "silent")
    turns(a_monitor("two"), "silent")

    text = page(client, "monitor_list")

    assert 'data-key="g m" aria-current="page">Monitors <span class="count">2</span>' in text
    assert 'data-key="g a">Alerts <span class="count">2</span>' in text
