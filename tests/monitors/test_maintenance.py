"""What is wrong while it is maintained is kept, and told when its window is over."""

from datetime import timedelta

import pytest
from pytest_django import Settings

from monitors.ledger import incidents, reminders, windows
from monitors.models import MaintenanceWindow
from runs.queries.clock import db_now
from runs.queries.verify import violations
from tests.monitors.troubles import a_monitor, open_alerts, the_incident, titles, turns
from tests.schedules.builders import the_time
from tests.support import runs
from tests.telling.builders import a_row

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _channel() -> None:
    runs.the_tenant()
    a_row("ops")


def test_what_is_maintained_is_kept_and_told_when_its_window_is_over(settings: Settings) -> None:
    monitor, start = a_monitor(), db_now()
    MaintenanceWindow.objects.create(
        tenant=monitor.tenant,
        monitor=monitor,
        because="new disks",
        starts_at=start - timedelta(minutes=1),
        ends_at=start + timedelta(minutes=30),
        created_by="tests",
        created_at=start,
    )

    turns(monitor, "silent")

    assert (open_alerts(), titles()) == ([f"monitor:{monitor.pk}"], [])
    with the_time(settings, start + timedelta(minutes=20)):
        assert reminders.remind(monitor.tenant_id) == 0
    with the_time(settings, start + timedelta(minutes=31, seconds=20)):
        assert reminders.remind(monitor.tenant_id) == 1
    (title,) = titles()
    assert title.startswith("Still open after 31 m")


def test_what_is_maintained_is_told_when_its_window_is_removed_before_its_end() -> None:
    monitor, start = a_monitor(), db_now()
    window = MaintenanceWindow.objects.create(
        tenant=monitor.tenant,
        monitor=monitor,
        because="new disks",
        starts_at=start - timedelta(minutes=1),
        ends_at=start + timedelta(days=30),
        created_by="tests",
        created_at=start,
    )
    turns(monitor, "silent")

    windows.remove(runs.the_operator(), window.pk)

    assert reminders.remind(monitor.tenant_id) == 1
    assert len(titles()) == 1


@pytest.mark.parametrize("ends", ["by itself", "before its time"])
def test_what_joins_in_its_maintenance_what_somebody_has_in_hand_is_told_when_that_is_over(
    settings: Settings, ends: str
) -> None:
    one, two, start = a_monitor("one"), a_monitor("two"), db_now()
    actor, until = runs.the_operator(), start + timedelta(minutes=30)
    turns(one, "silent", workflow="sync")
    incidents.acknowledge(actor, the_incident().pk, note="on it")
    window = windows.mute(actor, two.pk, until=until)

    turns(two, "silent", workflow="sync")

    assert (the_incident().state, the_incident().tell_at, len(titles())) == (
        "acknowledged",
        until,
        1,
    )
    if ends == "before its time":
        windows.remove(actor, window.pk)
    with the_time(settings, start + timedelta(minutes=31 if ends == "by itself" else 1)):
        assert reminders.remind(one.tenant_id) == 1
    assert titles()[1:] == [
        f"New in what {actor.name} has in hand: two sends nothing since its time and shows no life."
    ]
    assert (the_incident().state, the_incident().owner) == ("open", "")
    assert violations() == []


def test_what_was_well_again_before_its_maintenance_ended_leaves_what_is_in_hand_alone(
    settings: Settings,
) -> None:
    one, two, start = a_monitor("one"), a_monitor("two"), db_now()
    actor = runs.the_operator()
    turns(one, "silent", workflow="sync")
    incidents.acknowledge(actor, the_incident().pk, note="on it")
    windows.mute(actor, two.pk, until=start + timedelta(minutes=30))

    turns(two, "silent", workflow="sync")
    turns(two, "alive", workflow="sync")

    with the_time(settings, start + timedelta(minutes=31)):
        assert reminders.remind(one.tenant_id) == 1
    assert (the_incident().state, the_incident().tell_at, len(titles())) == (
        "acknowledged",
        None,
        1,
    )
