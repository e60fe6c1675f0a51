"""What people do about an incident: take it on, put it off, call it over; and what is told after that."""

from datetime import timedelta
from typing import Any

import pytest
from pytest_django import Settings

from monitors.ledger import incidents, reminders
from monitors.models import Incident
from monitors.rules.incidents import IncidentRefused
from runs.models import AuditEvent, Tenant
from runs.queries.actors import actor_for
from runs.queries.clock import db_now
from runs.queries.verify import violations
from tests.dashboard.builders import a_person
from tests.monitors.troubles import a_monitor, the_incident, titles, turns
from tests.schedules.builders import the_time
from tests.support import runs
from tests.telling.builders import a_row

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _channel() -> None:
    runs.the_tenant()
    a_row("ops")


def test_who_takes_it_on_is_not_reminded_unless_it_gets_worse() -> None:
    monitor = a_monitor()
    turns(monitor, "slow")
    actor = runs.the_operator()

    incidents.acknowledge(actor, the_incident().pk, note="I am looking", seen=the_incident().seq)

    incident = the_incident()
    assert (incident.state, incident.owner, incident.note, incident.tell_at) == (
        "acknowledged",
        actor.name,
        "I am looking",
        None,
    )
    turns(monitor, "silent")
    assert (the_incident().state, len(titles())) == ("open", 2)
    incidents.acknowledge(actor, the_incident().pk, note="")
    incidents.reopen(actor, the_incident().pk)
    assert the_incident().tell_at is not None


def test_what_is_new_in_what_somebody_has_in_hand_is_told_once_more() -> None:
    one, quiet = a_monitor("one"), a_monitor("quiet")
    turns(one, "silent", workflow="sync")
    actor = runs.the_operator()
    incidents.acknowledge(actor, the_incident().pk, note="on it")

    turns(quiet, "silent", workflow="sync", told=False)
    turns(one, "cut_off", workflow="sync")
    assert (the_incident().state, len(titles())) == ("acknowledged", 1)
    turns(a_monitor("two"), "silent", workflow="sync")
    turns(a_monitor("three"), "silent", workflow="sync")

    incident = the_incident()
    assert titles()[1:] == [
        f"New in what {actor.name} has in hand: two sends nothing since its time and shows no life."
    ]
    assert (incident.state, incident.owner, incident.affected) == ("open", "", 4)
    assert incident.acknowledged_at is not None
    assert incident.tell_at is not None
    incidents.acknowledge(actor, incident.pk, note="")
    turns(a_monitor("four"), "silent", workflow="sync")
    assert len(titles()) == 3
    assert violations() == []


def test_a_snooze_ends_with_a_reminder(settings: Settings) -> None:
    turns(a_monitor(), "silent")
    start, actor, incident = db_now(), runs.the_operator(), the_incident()

    incidents.snooze(actor, incident.pk, until=start + timedelta(hours=3), note="after lunch")

    with the_time(settings, start + timedelta(hours=2)):
        assert reminders.remind(incident.tenant_id) == 0
    with the_time(settings, start + timedelta(hours=3, seconds=1)):
        assert reminders.remind(incident.tenant_id) == 1
    assert len(titles()) == 2
    assert the_incident().snoozed_until is None


@pytest.mark.parametrize("away", [timedelta(seconds=-1), timedelta(days=31)])
def test_a_snooze_that_makes_no_sense_is_refused(away: timedelta) -> None:
    turns(a_monitor(), "silent")

    with pytest.raises(IncidentRefused):
        incidents.snooze(runs.the_operator(), the_incident().pk, until=db_now() + away)


def test_a_person_may_resolve_it_and_the_next_change_is_a_new_one() -> None:
    monitor = a_monitor()
    turns(monitor, "silent")
    incidents.resolve(runs.the_operator(), the_incident().pk, note="known")
    turns(monitor, "alive")
    assert len(titles()) == 1

    turns(monitor, "silent")

    assert sorted(Incident.objects.values_list("state", flat=True)) == ["open", "resolved"]
    kinds = list(AuditEvent.objects.filter(run=None).values_list("kind", flat=True))
    assert kinds == ["incident.resolved"]
    assert violations() == []


def test_whoever_saw_it_otherwise_does_nothing() -> None:
    monitor = a_monitor()
    turns(monitor, "slow")
    seen = the_incident().seq
    turns(monitor, "silent")

    for act, more in ACTS:
        with pytest.raises(incidents.IncidentChanged):
            act(runs.the_operator(), the_incident().pk, seen=seen, **more)


ACTS: list[tuple[Any, dict[str, Any]]] = [
    (incidents.acknowledge, {"note": ""}),
    (incidents.reopen, {}),
    (incidents.resolve, {"note": ""}),
]


def test_nobody_acts_on_another_tenants() -> None:
    other = Tenant.objects.create(slug="other", name="Other")
    turns(a_monitor("one", tenant=other), "silent")
    person = actor_for(a_person("omar", "operate"))

    with pytest.raises(incidents.NoSuchIncident):
        incidents.resolve(person, the_incident().pk, note="")
