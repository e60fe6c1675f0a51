"""The duty of the watch that reminds and sweeps: one broken tenant, and a database that is away."""

from datetime import timedelta

import pytest
from django.db import OperationalError

from monitors.engine.alerting import Alerting
from monitors.ledger import reminders
from monitors.models import Incident
from runs.models import Tenant, Tick
from runs.queries.clock import db_now
from tests.monitors.troubles import a_monitor, turns
from tests.support import runs
from tests.telling.builders import a_row

pytestmark = pytest.mark.django_db(transaction=True)


def due_incidents() -> None:
    for slug in ("default", "other"):
        tenant = Tenant.objects.get_or_create(slug=slug)[0]
        a_row("ops", tenant=tenant)
        turns(a_monitor(slug, tenant=tenant), "silent")
    Incident.objects.update(tell_at=db_now() - timedelta(seconds=1))


def test_a_pass_reminds_every_tenant_and_says_that_it_went_round() -> None:
    due_incidents()

    Alerting().go_round()

    assert list(Incident.objects.values_list("reminders", flat=True)) == [1, 1]
    assert Tick.objects.filter(duty="alerts").exists()


def test_one_tenant_that_cannot_be_told_does_not_keep_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    due_incidents()
    broken, right = runs.the_tenant("default").pk, reminders.remind

    def remind(tenant: int) -> int:
        if tenant == broken:
            raise ValueError("broken")
        return right(tenant)

    monkeypatch.setattr(reminders, "remind", remind)
    Alerting().go_round()

    assert sorted(Incident.objects.values_list("reminders", flat=True)) == [0, 1]


def test_a_database_that_is_away_ends_a_pass_and_not_the_duty(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def away(_tenant: int) -> int:
        raise OperationalError("gone")

    due_incidents()
    monkeypatch.setattr(reminders, "remind", away)
    monkeypatch.setattr("runs.engine.rounds.connection.close", lambda: None)

    Alerting().go_round()

    assert list(Incident.objects.values_list("reminders", flat=True)) == [0, 0]
