"""What is over for long enough goes by `cleanup`; what is open, younger, or still asked for stays (I14)."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from pytest_django import Settings

from monitors.ledger import blindness, windows
from monitors.ledger.judging import Verdicts, change
from monitors.models import Alert, Blindness, Incident, MaintenanceWindow, Monitor, Ping
from monitors.models import VerdictChange as Change
from monitors.queries import watching
from monitors.rules.sayings import Said
from monitors.rules.states import Verdict
from monitors.rules.verdicts import Breach, Judged
from runs.conf import conf
from runs.engine import retention
from runs.ledger import selecting
from runs.ledger.selecting import NotAtThisPoint
from runs.models import AuditEvent, Message, Run, Selection, SelectionItem
from runs.queries.clock import db_now
from runs.queries.verify import violations
from runs.rules.together import Together
from tests.commands.saying import manage
from tests.dashboard.builders import a_person
from tests.monitors.judged import ping
from tests.monitors.troubles import a_monitor
from tests.support import runs
from tests.telling.builders import a_row

pytestmark = pytest.mark.django_db(transaction=True)
DAYS = {"old": -200, "young": -50}


@pytest.fixture(autouse=True)
def _channel(settings: Settings) -> Iterator[None]:
    runs.the_tenant()
    a_row("ops")
    yield
    at(settings, 0)


def at(settings: Settings, days: int) -> None:
    """The database's clock shows a day before, or after, this one."""
    settings.CLOCK_OFFSET_SECONDS = timedelta(days=days).total_seconds()
    conf.cache_clear()


def says(monitor: Monitor, verdict: str) -> None:
    """As the judge writes it, with what follows from it."""
    seen = watching.again(monitor.pk)
    assert seen is not None
    breach = Breach.SILENCE if verdict == "silent" else Breach.NONE
    judged = Judged(verdict=Verdict(verdict), breach=breach, since=db_now())
    said = Said(sentence=f"{monitor} is {verdict}.", advice="Look at it.")
    made = Verdicts(judged=judged, said=said, facts="{}", look_at=None)
    assert change(seen, made, now=db_now())


def a_trouble(monitor: Monitor, *, over: bool = True) -> None:
    says(monitor, "silent")
    if over:
        says(monitor, "alive")
    Message.objects.filter(state="pending").update(state="delivered", settled_at=db_now())


def everything(settings: Settings, when: str) -> dict[str, Monitor]:
    """One of each, as it was so many days ago."""
    at(settings, DAYS[when])
    names = ("kept", "gone", "still", "called over")
    made = {name: a_monitor(f"{name}, {when}", verdict="") for name in names}
    ping(made["gone"])
    for name, monitor in made.items():
        a_trouble(monitor, over=name in ("kept", "gone"))
    a_trouble(made["kept"])
    incident = Incident.objects.get(alerts__monitor=made["called over"])
    resolve(incident.pk)
    Monitor.objects.filter(pk=made["gone"].pk).update(removed_at=db_now())
    windows.mute(runs.the_operator(), made["kept"].pk, until=db_now() + timedelta(hours=1))
    now = db_now()
    tenant = runs.the_tenant().pk
    for hours in (5, 3):
        since, until = now - timedelta(hours=hours), now - timedelta(hours=hours - 1)
        blindness.was(tenant_id=tenant, watch=None, since=since, because="away", now=until)
    Message.objects.filter(kind="blind").update(state="delivered")
    for begun in (False, True):
        a_selection(begun=begun)
    return made


def a_selection(*, begun: bool) -> None:
    """Of a run that stays, whatever becomes of what was chosen."""
    actor, run_id = runs.the_operator(), runs.a_run("example_ask")
    chosen = selecting.choose(actor, [run_id], verb=Together.CANCEL, asked_for="")
    if begun:
        selecting.begin(actor, chosen.pk, because="All of them.")


def resolve(incident_id: int) -> None:
    from monitors.ledger import incidents

    incidents.resolve(runs.the_operator(), incident_id, note="known")


def rows() -> dict[str, int]:
    models: tuple[Any, ...] = (Incident, Alert, Change, Monitor, Ping, Blindness, Message)
    models += (Selection, SelectionItem)
    return {each.__name__: each.objects.count() for each in models} | {
        "MaintenanceWindow": MaintenanceWindow.objects.count()
    }


def test_what_is_old_and_over_goes_and_nothing_else(settings: Settings) -> None:
    old, young = everything(settings, "old"), everything(settings, "young")
    at(settings, 0)
    before, audited = rows(), set(AuditEvent.objects.values_list("pk", flat=True))
    assert violations() == []

    told = manage("cleanup", "--dry-run", "--json").json
    assert rows() == before
    done = manage("cleanup", "--json").json

    assert told == done | {"dry_run": True}
    gone = {
        "closed incidents": 2,
        "verdicts before the last": 4,
        "monitors that were put away": 1,
        "times of blindness": 2,
        "windows that are over": 1,
        "selections never begun": 1,
    }
    assert gone.items() <= done["removed"].items()
    assert violations() == []
    for name in ("kept", "still", "called over"):
        assert Monitor.objects.filter(pk=old[name].pk).exists()
    for name, amount in (("kept", 1), ("still", 1), ("called over", 1)):
        assert Incident.objects.filter(alerts__monitor=old[name]).count() == amount
    assert (
        Incident.objects.filter(alerts__monitor__in=[each.pk for each in young.values()]).count()
        == 5
    )
    assert not Ping.objects.filter(monitor=old["gone"].pk).exists()
    assert audited < set(AuditEvent.objects.values_list("pk", flat=True))
    removed = AuditEvent.objects.filter(kind="cleanup.removed")
    assert removed.count() == 6
    assert Run.objects.count() == 4
    assert sorted(Selection.objects.values_list("state", flat=True)) == ["chosen", *["running"] * 2]
    assert SelectionItem.objects.count() == 3
    again = manage("cleanup", "--json").json["removed"]
    assert set(again.values()) == {0}


def test_it_goes_in_batches_and_one_that_has_a_message_to_leave_stays(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "AT_ONCE", 1)
    everything(settings, "old")
    at(settings, 0)
    waits = Message.objects.filter(kind="alert").earliest("created_at")
    Message.objects.filter(pk=waits.pk).update(state="pending")

    done = manage("cleanup", "--json").json["removed"]

    assert done["closed incidents"] == 1
    assert Message.objects.filter(pk=waits.pk).exists()
    assert violations() == []
    assert connection.in_atomic_block is False


def test_what_is_begun_while_it_is_taken_away_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    a_selection(begun=False)
    chosen = Selection.objects.get()
    monkeypatch.setattr(selecting, "visible_selection", lambda *_asked: chosen)
    Selection.objects.all().delete()

    with pytest.raises(NotAtThisPoint, match="taken away meanwhile"):
        selecting.begin(runs.the_operator(), chosen.pk, because="All of them.")


def test_who_may_not_administer_cleans_nothing_up() -> None:
    a_person("omar", "operate")

    refused = manage("cleanup", "--as", "omar")

    assert refused.code == 1
    assert "permission" in refused.err
    assert manage("cleanup", "--dry-run").out.endswith(
        "rows would go that were over before 180 days.\n"
    )
