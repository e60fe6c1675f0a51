"""`monitors` and `alerts`: the same acts as on the pages, in words and in JSON."""

import pytest
from django.contrib.auth.models import User

from monitors.models import Monitor, PingKey
from runs.models import AuditEvent
from tests.commands.saying import Said, manage
from tests.monitors.troubles import a_monitor, the_incident, turns
from tests.support import runs
from tests.telling.builders import a_row

pytestmark = pytest.mark.django_db


def monitors(*words: object) -> Said:
    return manage("monitors", *words)


def alerts(*words: object) -> Said:
    return manage("alerts", *words)


def test_without_any_it_says_how_to_begin() -> None:
    runs.the_tenant()

    assert "monitors add" in monitors("list").out
    assert monitors("list", "--json").json == {"monitors": [], "amount": 0}
    assert "No open incidents." in alerts("list").out


def test_one_is_made_listed_shown_changed_and_removed() -> None:
    runs.the_tenant()

    made = monitors(
        "add", "Nightly backup", "--every", "1d", "--grace", "1h", "--slug", "nb", "--json"
    )

    assert made.code == 0
    assert (made.json["state"], made.json["expects"]) == ("new", "every 1 d, grace 1 h")
    assert f"/ping/{Monitor.objects.get().code}" in made.json["ping_url"]
    assert "curl" in monitors("show", "nb").out
    changed = monitors("edit", "nb", "--cron", "0 2 * * *", "--tag", "db", "--fail-word", "error")
    assert changed.code == 0
    monitor = Monitor.objects.get()
    assert (monitor.period, monitor.cron, monitor.tags, monitor.grace) == (
        None,
        "0 2 * * *",
        "db",
        3600,
    )
    assert "error" in monitor.filters
    assert [one["name"] for one in monitors("list", "--tag", "db", "--json").json["monitors"]] == [
        "Nightly backup"
    ]
    assert monitors("remove", monitor.pk, "--json").json["removed"]
    assert monitors("show", "nb").code == 1
    kinds = list(AuditEvent.objects.order_by("seq").values_list("kind", flat=True))
    assert kinds == ["monitor.created", "monitor.changed", "monitor.removed"]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--grace", "1h"], 1, "period: Say how often"),
        (["--every", "1d"], 2, "--grace"),
        (["--cron", "61 * * * *", "--grace", "1h"], 1, "cron: "),
        (["--every", "1d", "--grace", "1h", "--slug", "Bad Slug"], 1, "slug: "),
    ],
)
def test_what_would_not_work_is_refused(words: list[str], code: int, said: str) -> None:
    runs.the_tenant()

    refused = monitors("add", "backup", *words)

    assert refused.code == code
    assert said in refused.err


def test_it_is_paused_until_a_time_and_watched_again() -> None:
    a_monitor()

    paused = monitors("pause", "backup", "--for", "4h", "--because", "moving", "--json")

    assert (paused.json["state"], paused.json["paused_until"] is not None) == ("paused", True)
    assert "moving" in monitors("show", "backup").out
    assert monitors("resume", "backup", "--json").json["state"] == "new"


def test_a_ping_key_is_shown_once_and_ended() -> None:
    runs.the_tenant()

    first = monitors("ping-key", "--json").json
    second = monitors("ping-key", "--overlap", "1h").out

    assert len(first["key"]) == 22
    assert "hold until" in second
    assert PingKey.objects.count() == 2
    assert monitors("ping-key", "--end", first["id"]).code == 0
    assert monitors("ping-key", "--end", first["id"]).code == 1


def test_it_is_muted_unmuted_and_sent_a_test_ping() -> None:
    runs.the_tenant()
    a_row("ops")
    a_monitor()

    muted = monitors("mute", "backup", "--for", "2h", "--because", "new disks", "--json").json

    assert muted["muted_until"] is not None
    assert muted["told_by"] == ["ops"]
    assert "nobody is called" in monitors("show", "backup").out
    assert monitors("mute", "backup", "--for", "90d").code == 1
    assert monitors("unmute", "backup", "--json").json["muted_until"] is None
    again = monitors("unmute", "backup")
    assert (again.code, "no mute" in again.err) == (1, True)
    tried = monitors("test-ping", "backup", "--says", "fail", "--json").json
    assert (tried["number"], tried["kind"]) == (1, "fail")
    assert "as ping 2" in monitors("test-ping", "backup", "--says", "log").out


def test_a_name_that_means_two_is_a_question() -> None:
    a_monitor()
    a_monitor()

    asked = monitors("show", "backup")

    assert asked.code == 2
    assert "may be any of these" in asked.err


def test_what_is_not_ours_to_change_is_refused() -> None:
    a_monitor("w-1", kind="worker", subject="w-1")

    assert "Milepost keeps this monitor" in monitors("remove", "w-1").err


def test_an_incident_is_listed_shown_taken_on_put_off_and_resolved() -> None:
    runs.the_tenant()
    a_row("ops")
    turns(a_monitor(), "silent")
    one = the_incident().pk

    (listed,) = alerts("list", "--json").json["incidents"]
    assert (listed["severity"], listed["state"], listed["affected"]) == ("critical", "open", 1)
    shown = alerts("show", one, "--json").json
    assert [(each["channel"], each["state"]) for each in shown["deliveries"]] == [
        ("ops", "pending")
    ]
    assert "still wrong: backup sends nothing" in alerts("show", one).out
    assert alerts("ack", one, "--note", "mine", "--json").json["state"] == "acknowledged"
    assert alerts("reopen", one, "--json").json["owner"] == ""
    assert alerts("snooze", one, "--for", "2h", "--json").json["snoozed_until"]
    assert alerts("snooze", one, "--for", "90d").code == 1
    assert alerts("resolve", one, "--note", "known", "--json").json["state"] == "resolved"
    again = alerts("resolve", one)
    assert again.code == 1
    assert "was resolved at" in again.err
    assert "backup" in alerts("list", "--all").out
    assert alerts("show", one + 1).code == 1


def test_who_may_not_operate_is_refused() -> None:
    turns(a_monitor(), "silent")
    User.objects.create_user("lena")

    assert alerts("ack", the_incident().pk, "--as", "lena").code == 1
    assert monitors("pause", "backup", "--as", "lena").code == 1
    assert "ping_url" not in monitors("show", "backup", "--as", "lena", "--json").json
