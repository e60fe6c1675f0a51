"""`schedules`: make, change, look, pause, run and remove, with the refusals that people will meet."""

import math
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.checks import run_checks

from runs.definition import Heartbeat
from runs.ledger import schedules
from runs.models import AuditEvent, Firing, Run, Schedule
from runs.rules.schedules import ScheduleRefused
from tests.commands.saying import Said, manage
from tests.schedules.builders import a_schedule, a_wish
from tests.support import runs

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("_known")]


def say(*words: object) -> Said:
    return manage("schedules", *words)


def add(*words: object) -> Said:
    runs.the_tenant()
    return say("add", "nightly", "sync", *words)


def test_one_is_made_shown_and_listed() -> None:
    made = add("--cron", "0 2 * * *", "--zone", "Europe/Berlin", "--overlap", "skip", "--json")

    assert made.code == 0
    assert (made.json["slug"], made.json["state"]) == ("nightly", "on")
    assert made.json["words"] == "At 02:00 every day, Europe/Berlin, clock changes: once"
    assert len(made.json["next"]) == 3
    assert [one["slug"] for one in say("list", "--json").json["schedules"]] == ["nightly"]
    assert "overlap skip" in say("show", "nightly").out
    assert "not fired yet" in say("list").out
    assert AuditEvent.objects.filter(kind="schedule.created").count() == 1


def test_without_an_overlap_policy_it_is_refused() -> None:
    refused = add("--cron", "0 2 * * *")

    assert refused.code == 1
    assert "overlap: Decide what happens" in refused.err
    assert not Schedule.objects.exists()


def test_a_workflow_without_heartbeat_is_refused() -> None:
    runs.the_tenant()
    refused = say("add", "quiet", "mute", "--every", 60, "--overlap", "skip")

    assert refused.code == 1
    assert "declares no heartbeat" in refused.err


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"cron": "99 2 * * *"}, "cron"),
        ({"cron": "0 2 * *"}, "cron"),
        ({"cron": ""}, "cron"),
        ({"zone": "Mars/Olympus"}, "zone"),
        ({"catch_up": "all"}, "window"),
        ({"catch_up": "latest", "window": math.inf}, "window"),
        ({"catch_up": "none", "window": math.nan}, "window"),
        ({"name": "n" * 201}, "name"),
        ({"cron": "0 2 * * " + ",".join(["1"] * 101)}, "cron"),
        ({"jitter": 7200}, "jitter"),
        ({"slug": "Nightly Sync"}, "slug"),
        ({"dst": "twice"}, "dst"),
        ({"workflow": "gone"}, "workflow"),
        ({"data": {"colour": "red"}}, "input.colour"),
        ({"cron": "", "every": 0.1}, "every"),
    ],
)
def test_what_would_not_work_is_refused_at_its_field(wrong: dict[str, Any], field: str) -> None:
    runs.the_tenant()

    with pytest.raises(ScheduleRefused) as refused:
        schedules.create(runs.the_operator(), a_wish(**wrong))

    assert list(refused.value.errors) == [field]


def test_a_name_is_taken_once() -> None:
    a_schedule()

    assert "already" in add("--every", 60, "--overlap", "skip").err


def test_the_next_five_are_previewed_with_what_a_change_of_clocks_does() -> None:
    said = say("preview", "--cron", "30 2 29 3 *", "--zone", "Europe/Berlin", "--json")

    assert len(said.json["next"]) == 5
    assert any("does not exist" in one["note"] for one in _over_the_years())
    assert say("preview", "--cron", "61 * * * *").code == 1


def _over_the_years() -> list[dict[str, Any]]:
    said = say("preview", "--cron", "30 2 * 3 0", "--zone", "Europe/Berlin", "--json")
    found: list[dict[str, Any]] = said.json["next"]
    return found


def test_what_is_named_is_changed_and_the_rest_is_kept() -> None:
    schedule = a_schedule(jitter=60)

    changed = say("change", "nightly", "--every", 300, "--overlap", "queue_one", "--json")

    assert changed.code == 0
    schedule.refresh_from_db()
    assert (schedule.cron, schedule.every, schedule.jitter) == ("", 300, 60)
    assert schedule.overlap == "queue_one"
    assert say("change", "nightly", "--zone", "nowhere").code == 1


def test_it_is_paused_resumed_run_and_removed() -> None:
    a_schedule()

    assert say("pause", "nightly", "--because", "moving").code == 0
    assert say("list", "--json").json["schedules"][0]["state"] == "paused"
    assert "moving" in say("show", "nightly").out
    assert say("resume", "nightly").code == 0
    ran = say("run-now", "nightly", "--json")
    assert (ran.code, ran.json["state"]) == (0, "started")
    again = say("run-now", "nightly")
    assert again.code == 1
    assert "is queued" in again.err
    assert say("remove", "nightly", "--because", "done").code == 0
    assert say("list", "--json").json == {"schedules": []}
    assert Firing.objects.count() == 2
    assert Run.objects.count() == 1


def test_what_is_not_there_and_who_may_not() -> None:
    a_schedule()
    User.objects.create_user("lena")

    assert say("show", "other").code == 1
    assert say("resume", "nightly", "--as", "lena").code == 1
    assert say("list", "--as", "nobody").code == 2


def test_check_refuses_a_stored_one_whose_workflow_lost_its_heartbeat(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from runs.definition import registry

    a_schedule()
    assert not [one for one in run_checks(tags=["workflows"]) if one.id == "runs.E027"]
    monkeypatch.setattr(registry.latest("sync"), "heartbeat", None)

    (found,) = [one for one in run_checks(tags=["workflows"]) if one.id == "runs.E027"]

    assert "nightly" in found.msg
    assert Heartbeat.__name__ in found.msg
