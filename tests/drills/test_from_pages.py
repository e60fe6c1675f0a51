"""A drill begun from its workflow's page, seen while it is under way, stopped, and never heard of again."""

from datetime import timedelta
from io import StringIO
from uuid import UUID

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from runs.engine import drill_starting
from runs.ledger import drills
from runs.ledger.tenants import NoSuchTenant
from runs.management.drills import outside
from runs.management.scratch import scratch_sqlite
from runs.management.scratch_postgresql import NoPostgreSQL
from runs.models import AuditEvent, Drill
from runs.models.drill import DrillUnderWay
from runs.queries.actors import actor_for
from runs.queries.clock import db_now
from tests.commands.saying import manage
from tests.dashboard.addresses import somebody
from tests.drills.test_report import a_report
from tests.support import runs

pytestmark = pytest.mark.django_db


@pytest.fixture
def olga() -> Client:
    client = Client()
    client.force_login(somebody("olga", "operators"))
    return client


@pytest.fixture
def launched(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What would have been started as a program."""
    said: list[list[str]] = []
    monkeypatch.setattr(drill_starting, "launch", said.append)
    return said


def start(client: Client, name: str, **sent: str) -> int:
    return client.post(reverse("runs:drill_start", args=[name]), sent).status_code


def listed(client: Client) -> str:
    return client.get(reverse("runs:drill_list")).content.decode()


def begun() -> UUID:
    runs.the_tenant()
    return drills.begin(runs.the_operator(), workflow="ten_steps", command="drill ten_steps")


def test_it_is_begun_once_and_shown_until_somebody_stops_it(
    olga: Client, launched: list[list[str]]
) -> None:
    assert "Start drill" in olga.get(reverse("runs:workflow_show", args=["ten_steps"])).text

    assert start(olga, "ten_steps", matrix="yes") == 302
    assert start(olga, "ten_steps") == 409

    drill = DrillUnderWay.objects.get()
    words = "drill ten_steps --matrix --as olga --tenant default --begun"
    assert launched == [[*words.split(), str(drill.pk)]]
    page = listed(olga)
    assert "has been drilled for" in page
    assert "data-live-region" in page
    assert olga.post(reverse("runs:drill_stop", args=[drill.pk])).status_code == 302
    assert "is being stopped by olga" in listed(olga)
    assert drills.go_on(drill.pk) == "olga"


def test_a_workflow_that_lacks_an_input_says_so_and_is_not_begun(
    olga: Client, launched: list[list[str]]
) -> None:
    page = olga.get(reverse("runs:workflow_show", args=["example_event"])).text

    assert "Write drilled_with" in page
    assert start(olga, "example_event") == 409
    assert launched == []
    assert not DrillUnderWay.objects.exists()


def test_it_is_begun_and_kept_for_the_tenant_of_who_begins_it(
    olga: Client, launched: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    bert = Client()
    bert.force_login(somebody("bert", "operators", tenant="theirs"))

    assert start(bert, "ten_steps") == 302

    drill = DrillUnderWay.objects.get()
    assert drill.tenant.slug == "theirs"
    assert "has been drilled for" in listed(bert)
    assert "has been drilled for" not in listed(olga)
    assert olga.post(reverse("runs:drill_stop", args=[drill.pk])).status_code == 404
    assert bert.post(reverse("runs:drill_stop", args=[drill.pk])).status_code == 302

    monkeypatch.setattr(outside, "drill_on_scratch", lambda *_, **__: a_report())
    call_command(*launched[0], stdout=StringIO())

    assert Drill.objects.get().tenant.slug == "theirs"
    assert AuditEvent.objects.get(kind="drill.kept").tenant.slug == "theirs"


def test_nobody_drills_for_a_tenant_of_others(olga: Client) -> None:
    actor = actor_for(somebody("bert", "operators", tenant="theirs"))

    with pytest.raises(NoSuchTenant):
        drills.begin(actor, workflow="ten_steps", command="drill ten_steps")
    with pytest.raises(NoSuchTenant):
        drills.keep(actor, a_report())

    assert manage("drill", "ten_steps", "--as", "bert").code == 2
    assert not DrillUnderWay.objects.exists()
    assert not Drill.objects.exists()


def test_who_may_only_look_begins_and_stops_none(launched: list[list[str]]) -> None:
    client, drill_id = Client(), begun()
    client.force_login(somebody("vera", "viewers"))

    assert start(client, "ten_steps") == 403
    assert client.post(reverse("runs:drill_stop", args=[drill_id])).status_code == 403
    assert "Stop" not in listed(client).partition('id="drills"')[2].partition("</form>")[0]
    assert launched == []


def test_one_whose_program_is_gone_is_said_to_be_and_gives_way_to_the_next(
    olga: Client, launched: list[list[str]]
) -> None:
    assert start(olga, "ten_steps") == 302
    DrillUnderWay.objects.update(seen_at=db_now() - timedelta(minutes=5))

    assert "there will be no report" in listed(olga)
    assert start(olga, "ten_steps") == 302
    assert DrillUnderWay.objects.count() == 1
    assert len(launched) == 2
    replaced = UUID(launched[0][-1])
    assert drills.go_on(replaced) == "another drill that took its place"


def test_a_drill_that_is_stopped_is_aborted_and_keeps_its_id(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(outside, "_scratch", lambda _: scratch_sqlite())
    monkeypatch.setenv("DJANGO_SETTINGS_MODULE", "config.settings")
    drill_id = begun()
    assert drills.stop(runs.the_operator(), drill_id)

    with pytest.raises(SystemExit):
        call_command("drill", "ten_steps", "--begun", str(drill_id), stdout=StringIO())

    drill = Drill.objects.get()
    assert (drill.pk, drill.state) == (drill_id, "aborted")
    assert drill.sentence.endswith("tests stopped it.")
    assert not DrillUnderWay.objects.exists()


def test_one_that_cannot_begin_leaves_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*_: object, **__: object) -> None:
        raise NoPostgreSQL("There is no initdb here.")

    monkeypatch.setattr(outside, "drill_on_scratch", none)
    runs.the_tenant()

    with pytest.raises(SystemExit):
        call_command("drill", "ten_steps", stdout=StringIO())

    assert Drill.objects.get().sentence.endswith("There is no initdb here.")
    assert not DrillUnderWay.objects.exists()
