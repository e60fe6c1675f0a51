"""Whoever reminds or delivers is killed behind each statement: no alert is lost, a repeat has the same id."""

from collections import defaultdict
from collections.abc import Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler

import pytest
from django.db import connections

from monitors.ledger import reminders
from monitors.models import Alert, Incident, IncidentCause, Monitor, VerdictChange
from runs.engine import courier
from runs.models import Message
from runs.queries.clock import db_now
from runs.queries.verify import violations
from runs.rules.channels import lane_of
from tests.monitors.troubles import a_monitor, turns
from tests.schedules.test_firing_killed import killed_behind
from tests.support import runs
from tests.telling.builders import a_channel, a_row
from tests.telling.conftest import Serve, allowed, serve

__all__ = ["allowed", "serve"]
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.processes]
MOST_STATEMENTS = 120
LONG = pytest.mark.long


@pytest.fixture(autouse=True)
def _two_channels() -> None:
    runs.the_tenant()
    a_row("ops")
    a_row("second")


def each_statement(stride: int) -> Iterator[int]:
    return iter(range(1, MOST_STATEMENTS, stride))


def end_it(monitor: Monitor) -> None:
    """It beats again, so that no storm of silences stands behind the next one."""
    monitor.refresh_from_db()
    VerdictChange.objects.filter(monitor=monitor).delete()
    turns(monitor, "alive")
    Alert.objects.filter(monitor=monitor).delete()
    IncidentCause.objects.all().delete()
    Incident.objects.all().delete()


@pytest.mark.parametrize("stride", [pytest.param(1, id="each", marks=LONG), 9])
def test_a_reminder_is_put_once_whenever_its_process_dies(stride: int) -> None:
    killed = 0
    for number in each_statement(stride):
        monitor = a_monitor(f"backup-{number}")
        turns(monitor, "silent")
        incident = Incident.objects.get(alerts__monitor=monitor)
        Incident.objects.filter(pk=incident.pk).update(tell_at=db_now() - timedelta(seconds=1))

        def remind(tenant: int = incident.tenant_id) -> object:
            return reminders.remind(tenant)

        died = killed_behind(number, remind)
        remind()
        incident.refresh_from_db()
        assert (incident.reminders, incident.messages) == (1, 2)
        assert (
            Message.objects.filter(dedup_key__startswith=f"incident:{incident.pk}:2").count() == 2
        )
        end_it(monitor)
        if not died:
            break
        killed += 1
    assert killed * stride > 8
    assert violations() == []


@pytest.mark.usefixtures("allowed")
@pytest.mark.parametrize("stride", [pytest.param(1, id="each", marks=LONG), 3])
def test_an_alert_arrives_whenever_its_courier_dies_and_a_repeat_has_the_same_id(
    serve: Serve, stride: int
) -> None:
    arrived: dict[str, int] = defaultdict(int)

    def answer(handler: BaseHTTPRequestHandler) -> None:
        arrived[handler.headers["webhook-id"]] += 1
        handler.send_response(204)
        handler.end_headers()

    channel = a_channel("hook", to=serve(answer)).channel
    killed = 0
    for number in each_statement(stride):
        monitor = a_monitor(f"backup-{number}")
        turns(monitor, "silent")
        message = Message.objects.get(lane=lane_of(channel.pk), state="pending")
        died = killed_behind(number, lambda: courier.deliver_next(lane_of(channel.pk)))
        connections.close_all()
        # Its lease is over: another courier takes it.
        Message.objects.filter(pk=message.pk, state="pending").update(
            lease_until=None, due_at=db_now()
        )
        courier.deliver_next(lane_of(channel.pk))
        message.refresh_from_db()
        assert (message.state, arrived[str(message.pk)] >= 1) == ("delivered", True)
        Message.objects.exclude(lane=lane_of(channel.pk)).delete()
        end_it(monitor)
        Message.objects.filter(lane=lane_of(channel.pk), state="pending").delete()
        if not died:
            break
        killed += 1
    assert killed * stride > 4
    assert len(arrived) == killed + 1
    assert violations() == []
