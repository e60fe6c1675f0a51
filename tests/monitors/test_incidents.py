"""Alerts of one cause are one incident: one message when it begins, and one when it is over."""

import re
from datetime import timedelta

import pytest
from pytest_django import Settings

from monitors.ledger import incidents, reminders, sweeping
from monitors.models import Alert, Incident
from runs.definition import registry
from runs.ledger.tenants import DEFAULT
from runs.models import Message, Schedule, Tenant
from runs.queries.clock import db_now
from runs.queries.verify import violations
from tests.monitors.troubles import (
    a_monitor,
    open_alerts,
    the_incident,
    titles,
    turns,
)
from tests.schedules.builders import a_schedule, made, the_time
from tests.support import runs
from tests.telling.builders import a_row

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _channel() -> None:
    runs.the_tenant()
    a_row("ops")


def test_a_silence_is_one_alert_one_incident_and_one_message() -> None:
    monitor = a_monitor()

    turns(monitor, "silent")

    incident = the_incident()
    assert (incident.severity, incident.state, incident.count, incident.affected) == (
        "critical",
        "open",
        1,
        1,
    )
    assert titles() == ["backup sends nothing since its time and shows no life."]
    message = Message.objects.get()
    assert message.dedup_key.startswith(f"incident:{incident.pk}:1 ")
    assert f"/alerts/{incident.pk}/" in message.payload


def test_a_recovery_closes_it_and_is_told_once() -> None:
    monitor = a_monitor()
    turns(monitor, "silent")
    Message.objects.update(state="delivered")

    turns(monitor, "alive")
    turns(monitor, "alive")

    incident = the_incident()
    assert (incident.state, incident.resolved_by, incident.tell_at) == (
        "resolved",
        "recovery",
        None,
    )
    assert open_alerts() == []
    assert len(titles()) == 2
    assert titles()[1].startswith("Well again after ")
    assert "may not have reached" not in titles()[1]


def test_a_recovery_says_if_the_message_before_may_not_have_arrived() -> None:
    monitor = a_monitor()
    turns(monitor, "silent")

    turns(monitor, "alive")

    assert "may not have reached you" in titles()[1]


def test_what_nobody_was_told_of_recovers_without_a_word() -> None:
    monitor = a_monitor()
    turns(monitor, "silent", told=False)
    turns(monitor, "alive")

    assert titles() == []
    assert the_incident().state == "resolved"


@pytest.mark.parametrize("shared", [{"worker": "w-1"}, {"workflow": "sync"}])
def test_many_misses_of_one_cause_are_one_message(shared: dict[str, str]) -> None:
    for number in range(30):
        turns(a_monitor(f"run-{number}"), "silent", **shared)

    incident = the_incident()
    assert (incident.count, incident.affected) == (30, 30)
    assert len(titles()) == 1


def test_a_cause_leads_to_the_next_one() -> None:
    """Runs of one workflow on many workers, and what else was on those workers."""
    turns(a_monitor("one"), "silent", worker="w-1", workflow="sync")
    turns(a_monitor("two"), "silent", worker="w-2", workflow="sync")
    turns(a_monitor("three"), "silent", worker="w-2", workflow="other")

    assert the_incident().affected == 3
    assert len(titles()) == 1


def test_the_same_cause_later_is_another_incident() -> None:
    turns(a_monitor("one"), "silent", workflow="sync")
    Incident.objects.update(last_at=db_now() - timedelta(minutes=6))

    turns(a_monitor("two"), "silent", workflow="sync")
    turns(a_monitor("three"), "silent", workflow="sync")

    assert sorted(Incident.objects.values_list("affected", flat=True)) == [1, 2]
    assert len(titles()) == 2


def test_unrelated_silences_are_told_one_by_one_and_a_storm_of_them_in_one() -> None:
    for number in range(40):
        turns(a_monitor(f"host-{number}"), "silent")

    assert len(titles()) == 21
    assert Incident.objects.get(kind="many").affected == 20


def test_another_tenants_silence_is_another_incident() -> None:
    other = Tenant.objects.create(slug="other", name="Other")
    turns(a_monitor("one"), "silent", workflow="sync")
    turns(a_monitor("two", tenant=other), "silent", workflow="sync")

    assert Incident.objects.count() == 2


def test_a_group_recovers_with_its_last_member() -> None:
    one, two = a_monitor("one"), a_monitor("two")
    turns(one, "silent", workflow="sync")
    turns(two, "silent", workflow="sync")

    turns(one, "alive")
    assert the_incident().state == "open"
    turns(two, "alive")

    assert the_incident().state == "resolved"
    assert "and 1 more" in titles()[-1]


def test_what_gets_worse_is_told_again_and_what_gets_better_is_not() -> None:
    monitor = a_monitor()
    turns(monitor, "slow")
    turns(monitor, "silent")
    turns(monitor, "cut_off")
    turns(monitor, "slow")

    assert [title.split(" ", 1)[1] for title in titles()] == [
        "beats, and has made no progress.",
        "sends nothing since its time and shows no life.",
    ]
    assert Alert.objects.get().severity == "warning"
    assert the_incident().severity == "critical"


def test_what_ended_by_itself_is_well() -> None:
    monitor = a_monitor()
    turns(monitor, "silent")

    turns(monitor, "silent", retired=True)

    assert the_incident().state == "resolved"


def test_blindness_says_nothing_of_a_monitor() -> None:
    monitor = a_monitor()
    turns(monitor, "silent")
    turns(monitor, "blind")

    assert the_incident().state == "open"
    assert len(titles()) == 1


def test_what_flaps_is_told_a_last_time_and_is_over_when_it_has_been_steady(
    settings: Settings,
) -> None:
    monitor, start = a_monitor(), db_now()
    for _ in range(3):
        turns(monitor, "silent")
        turns(monitor, "alive")
    turns(monitor, "silent")
    turns(monitor, "alive")

    incident = Incident.objects.get(flapping=True)
    assert incident.state == "open"
    assert titles()[-1].startswith("Flapping, 3 times in 30 m: backup sends nothing")
    assert len(titles()) == 5
    with the_time(settings, start + timedelta(minutes=16)):
        reminders.remind(incident.tenant_id)
    incident.refresh_from_db()
    assert (incident.state, incident.affected, incident.count) == ("resolved", 1, 2)
    assert titles()[-1].startswith("Well again")
    assert violations() == []


def test_reminders_come_later_each_time_and_then_once_a_day_in_one_message(
    settings: Settings,
) -> None:
    turns(a_monitor("one"), "silent")
    turns(a_monitor("two"), "silent")
    start = db_now()
    tenant = the_first().tenant_id
    told = {}
    for minutes in (14, 16, 60, 77, 300, 318, 900, 1800, 3260):
        with the_time(settings, start + timedelta(minutes=minutes)):
            reminders.remind(tenant)
        told[minutes] = len(titles())

    assert told == {14: 2, 16: 4, 60: 4, 77: 6, 300: 6, 318: 8, 900: 8, 1800: 9, 3260: 10}
    first = r"Still open after 16 m( \d+ s)?: one sends nothing since its time and shows no life\."
    assert re.fullmatch(first, titles()[2])
    assert titles()[-1].startswith("2 incidents are still open, the first since ")


def the_first() -> Incident:
    first = Incident.objects.order_by("pk").first()
    assert first is not None
    return first


def test_a_dead_channel_is_an_incident_that_is_not_told_twice_and_ends_with_it() -> None:
    channel = a_row("hook", dead_at=db_now(), last_error="connection refused")

    assert sweeping.sweep() == 1
    assert sweeping.sweep() == 0
    assert "Channel hook delivers nothing: connection refused" in the_incident().sentence
    assert titles() == []
    type(channel).objects.update(dead_at=None)

    assert sweeping.sweep() == 1
    assert the_incident().state == "resolved"


def test_what_is_stuck_in_one_lane_is_one_incident() -> None:
    now = db_now()
    for number in range(3):
        Message.objects.create(
            tenant=Tenant.objects.get(slug=DEFAULT),
            lane="relay shop",
            kind="call",
            dedup_key=f"stuck-{number}",
            payload="{}",
            due_at=now,
            created_at=now,
            stuck_at=now,
            attempts=9,
            error="refused",
        )

    assert sweeping.sweep() == 3

    assert (the_incident().kind, the_incident().affected, len(titles())) == ("outbox", 3, 1)
    Message.objects.filter(kind="call").update(state="delivered")
    sweeping.sweep()
    assert the_incident().state == "resolved"


def test_a_schedule_that_starts_nothing_is_an_incident_until_it_does() -> None:
    with registry.isolated():
        for workflow in made():
            registry.register(workflow)
        schedule = a_schedule()
    Schedule.objects.filter(pk=schedule.pk).update(skips=3)

    sweeping.sweep()

    assert the_incident().sentence.startswith("Schedule nightly starts nothing")
    Schedule.objects.filter(pk=schedule.pk).update(skips=0)
    sweeping.sweep()
    assert the_incident().state == "resolved"


def test_what_a_person_called_over_is_told_again_only_after_it_was_well() -> None:
    with registry.isolated():
        for workflow in made():
            registry.register(workflow)
        schedule = a_schedule()
    skipped = Schedule.objects.filter(pk=schedule.pk)
    skipped.update(skips=3)
    sweeping.sweep()
    incidents.resolve(runs.the_operator(), the_incident().pk, note="it may be idle")

    for _ in range(2):
        sweeping.sweep()
    assert len(titles()) == 1
    skipped.update(skips=0)
    sweeping.sweep()
    skipped.update(skips=3)
    sweeping.sweep()

    assert len(titles()) == 2
    assert violations() == []


def test_what_nobody_was_told_of_is_told_with_the_next_one_that_is() -> None:
    turns(a_monitor("one"), "silent", workflow="sync", told=False)
    turns(a_monitor("two"), "silent", workflow="sync")

    assert titles() == ["two sends nothing since its time and shows no life."]
