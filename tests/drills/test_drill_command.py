"""The command `drill`: on a database of its own, its report stored here, its exit code the verdict."""

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from runs.management.drills import outside
from runs.management.drills.asked import Asked
from runs.models import AuditEvent, Drill, Run, Tenant
from runs.queries import drills
from runs.rules.crash_points import POINTS
from runs.rules.drill_report import DrillReport
from runs.rules.policy import local_operator
from tests.drills.test_report import AGREED, VIOLATION, a_report
from tests.support.postgresql import PostgresServer


def said(*arguments: str, **options: Any) -> str:
    out = StringIO()
    call_command("drill", *arguments, stdout=out, **options)
    return out.getvalue()


@pytest.fixture
def default_tenant(db: None) -> None:
    Tenant.objects.get_or_create(slug="default")


@pytest.fixture
def conducted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is drilled; the report is a made-up one."""
    monkeypatch.setattr(outside, "drill_on_scratch", lambda *_, **__: a_report())


def test_list_names_every_crash_point() -> None:
    assert [line.split()[0] for line in said("--list").splitlines()] == list(POINTS)
    assert [each["point"] for each in json.loads(said("--list", "--json"))["points"]] == list(
        POINTS
    )


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["no_such_workflow"], "no_such_workflow"),
        (["--kill-after", "3,eleven"], "3,6,9"),
        (["--kill-after", "0"], "steps 1 to 10"),
        (["--kill-after", "11"], "steps 1 to 10"),
        (["--input", "[]"], "object"),
        (["--input", '{"nonsense": 1}'], "nonsense"),
        (["example_judge"], "drilled_with"),
        (["--runs", "0"], "whole numbers"),
        (["--as", "nobody"], "nobody"),
        (["--db-restart", "--postgresql-url", "postgresql://127.0.0.1/x"], "leave out"),
    ],
)
def test_a_wrong_usage_ends_with_two_and_says_what_to_write(
    default_tenant: None, arguments: list[str], says: str
) -> None:
    with pytest.raises(CommandError) as refused:
        said(*arguments)

    assert refused.value.returncode == 2
    assert says in str(refused.value)
    assert not Drill.objects.exists()


def test_the_report_is_stored_with_one_event_and_is_found_by_workflow_and_plan(
    default_tenant: None, conducted: None
) -> None:
    printed = json.loads(said("--json"))

    assert not [name for name in AGREED.split() if name not in printed]
    (stored,) = Drill.objects.all()
    assert (stored.workflow, stored.state) == ("refunds", "passed")
    assert AuditEvent.objects.filter(kind="drill.kept", run=None).count() == 1
    actor = local_operator("tests")
    assert drills.latest_report(actor, workflow="refunds", plan_hash="ab" * 32) == a_report()
    assert drills.latest_report(actor, workflow="refunds", plan_hash="cd" * 32) is None


@pytest.mark.parametrize(
    ("arguments", "judge"), [([], "scoring"), (["--input", '{"judge": "model"}'], "model")]
)
def test_what_a_workflow_is_drilled_with_needs_not_be_typed_and_may_be_replaced(
    default_tenant: None, monkeypatch: pytest.MonkeyPatch, arguments: list[str], judge: str
) -> None:
    drilled: list[Asked] = []

    def drill(asked: Asked, **_: Any) -> DrillReport:
        drilled.append(asked)
        return a_report()

    monkeypatch.setattr(outside, "drill_on_scratch", drill)

    said("inbox_triage", *arguments)

    (asked,) = drilled
    assert asked.data["inbox"].endswith("inbox.tsv")
    assert asked.data.get("judge", "scoring") == judge


def test_a_violation_ends_with_one_and_is_printed(
    default_tenant: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = a_report(violations=(VIOLATION,))
    monkeypatch.setattr(outside, "drill_on_scratch", lambda *_, **__: broken)
    out = StringIO()

    with pytest.raises(SystemExit) as ended:
        call_command("drill", stdout=out)

    assert ended.value.code == 1
    assert "I5   It happened twice under one key." in out.getvalue()
    assert Drill.objects.get().state == "failed"


def test_an_aborted_drill_ends_with_one_and_says_nothing_of_its_plan(
    default_tenant: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    aborted = a_report(aborted_because="no cluster came up")
    monkeypatch.setattr(outside, "drill_on_scratch", lambda *_, **__: aborted)

    with pytest.raises(SystemExit):
        call_command("drill", stdout=StringIO())

    actor = local_operator("tests")
    assert Drill.objects.get().state == "aborted"
    assert drills.latest_report(actor, workflow="refunds", plan_hash="ab" * 32) is None


@pytest.fixture
def _as_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the drill starts reads the settings of an installation, not those of the suite."""
    monkeypatch.setenv("DJANGO_SETTINGS_MODULE", "config.settings")


@pytest.mark.processes
def test_a_drill_that_breaks_is_kept_as_aborted_with_what_it_said_last(
    default_tenant: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outside, "MANAGE", "no-such-program.py")

    with pytest.raises(SystemExit) as ended:
        call_command("drill", stdout=StringIO())

    assert ended.value.code == 1
    stored = Drill.objects.get()
    assert (stored.workflow, stored.state) == ("ten_steps", "aborted")
    assert "no-such-program.py" in stored.sentence


def drilled(server: PostgresServer | None, *arguments: str) -> DrillReport:
    """A real drill, on the suite's own server where it runs on PostgreSQL."""
    where = ["--postgresql-url", server.url("postgres")] if server else []
    printed = json.loads(said(*arguments, *where, "--json"))
    report = DrillReport.from_text(Drill.objects.get().report)
    assert printed == report.as_json()
    return report


@pytest.mark.processes
@pytest.mark.timeout(200)
@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("_as_installed")
def test_a_drill_of_ten_steps_is_green_and_explains_each_resume(
    request: pytest.FixtureRequest,
) -> None:
    Tenant.objects.get_or_create(slug="default")
    server = (
        request.getfixturevalue("postgresql_server") if connection.vendor == "postgresql" else None
    )

    report = drilled(server, "--kill-after", "3,6,9", "--redeliver", "--timeout-first")

    assert report.violations == ()
    assert (report.kills, report.effects, report.keys, report.duplicates) == (3, 5, 5, 0)
    assert sum("was killed at" in resumed.sentence for resumed in report.resumes) == 3
    assert report.database == connection.vendor
    assert not Run.objects.exists(), "nothing was run here"


@pytest.mark.long
@pytest.mark.processes
@pytest.mark.timeout(200)
@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("_as_installed")
@pytest.mark.parametrize(
    "arguments", [["--zombie"], ["--db-restart"], ["--random", "7", "--runs", "10"]]
)
def test_a_zombie_an_outage_and_chance_break_nothing(arguments: list[str]) -> None:
    Tenant.objects.get_or_create(slug="default")

    report = drilled(None, *arguments)

    assert report.violations == ()
    assert report.effects == report.keys
