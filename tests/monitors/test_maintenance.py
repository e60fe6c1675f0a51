"""What is wrong while it is maintained is kept, and told when its window is over."""

from datetime import timedelta

import pytest
from pytest_django import Settings

from monitors.ledger import reminders, windows
from monitors.models import MaintenanceWindow
from runs.queries.clock import db_now
from tests.monitors.troubles import a_monitor, open_alerts, titles, turns
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
