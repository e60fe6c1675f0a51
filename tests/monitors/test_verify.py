"""`verify` reads each monitor's last change and last alert once, however much was said before (I15)."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from monitors.models import Alert, Incident, Monitor, VerdictChange
from monitors.queries.verify import alerts_hold, wrong_as_it_stands
from runs.queries.clock import db_now
from tests.monitors.troubles import a_monitor, turns
from tests.support import runs
from tests.telling.builders import a_row

pytestmark = pytest.mark.django_db
STEPS_AT_ONCE = 100


@pytest.fixture(autouse=True)
def _channel() -> None:
    runs.the_tenant()
    a_row("ops")


def a_history(monitor: Monitor, *, changes: int) -> None:
    now, first = db_now(), monitor.seq + 1
    VerdictChange.objects.bulk_create(
        VerdictChange(
            monitor=monitor,
            seq=first + number,
            was_state="up",
            state="up",
            was_verdict="alive",
            verdict="alive",
            sentence="It is alive.",
            advice="Nothing to do.",
            since=now,
            at=now + timedelta(seconds=number),
        )
        for number in range(changes)
    )


def work_of_verify() -> tuple[int, int]:
    """How many statements it asks, and, where the database says so, how much work they are."""
    steps = 0

    def step() -> int:
        nonlocal steps
        steps += 1
        return 0

    raw: Any = connection.connection
    if connection.vendor == "sqlite":
        raw.set_progress_handler(step, STEPS_AT_ONCE)
    with CaptureQueriesContext(connection) as asked:
        assert list(alerts_hold()) == []
    if connection.vendor == "sqlite":
        raw.set_progress_handler(None, 0)
    return len(asked), steps


def test_a_long_history_costs_it_nothing() -> None:
    monitor = a_monitor()
    a_history(monitor, changes=10)
    statements, before = work_of_verify()
    Monitor.objects.filter(pk=monitor.pk).update(seq=100)
    monitor.refresh_from_db()
    a_history(monitor, changes=2000)

    after, steps = work_of_verify()

    # Between two of them a monitor might change with its alert.
    assert statements == after == 1
    # Read with each other, two thousand changes were four million steps.
    assert steps <= before + 100


def test_it_names_what_nobody_was_told_of_and_what_is_told_of_though_it_is_well() -> None:
    silent, well, fine = a_monitor("silent"), a_monitor("well"), a_monitor("fine")
    turns(silent, "silent")
    for each, verdict in ((silent, "silent"), (well, "alive"), (fine, "alive")):
        a_history(each, changes=1)
        down = {"state": "down"} if verdict == "silent" else {}
        VerdictChange.objects.filter(monitor=each).update(verdict=verdict, **down)
    Alert.objects.all().delete()
    turns(well, "silent")

    assert [each.text for each in alerts_hold()] == [
        "Monitor silent is silent: no alert says so.",
        f"Monitor well is well, and alert {Alert.objects.get().pk} is open.",
    ]


def test_an_incident_that_was_written_meanwhile_is_looked_at_again() -> None:
    turns(a_monitor("silent"), "silent")
    read = Incident.objects.get()
    read.count += 1
    assert wrong_as_it_stands(read) == ["counts other alerts than it has"]

    Incident.objects.update(seq=read.seq + 1)

    assert wrong_as_it_stands(read) == []
