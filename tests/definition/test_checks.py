"""`manage.py check`: all of it with file and line; other commands only what stops a workflow."""

from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.checks import CheckMessage
from django.core.management import call_command
from django.core.management.base import SystemCheckError
from pytest_django import Settings

from runs import checks
from runs.definition import Workflow, gates, registry, step
from runs.definition.places import Place
from runs.queries import plans
from runs.rules.plan import plan_hash, plan_of
from tests.definition.builders import a_harmless_effect, line_of

pytestmark = pytest.mark.django_db

report = a_harmless_effect()


def a_broken_workflow() -> type[Workflow]:
    class Broken(Workflow):
        name, version = "broken", 1

        @step(reads=["nowhere"], writes=["x"])
        def work(self, run: Any) -> None: ...

    return Broken


def a_workflow_with_a_side_effect() -> type[Workflow]:
    class Shouting(Workflow):
        name, version = "shouting", 1

        @step(effects=[report])
        def shout(self, run: Any) -> None:
            run.call(report, resource="1", request={})

    return Shouting


def what_check_says() -> str:
    said = StringIO()
    call_command("check", "--tag", "workflows", stdout=said, stderr=said)
    return said.getvalue()


def test_check_fails_and_prints_file_line_and_what_to_write() -> None:
    a_broken_workflow()

    with pytest.raises(SystemCheckError) as failed:
        what_check_says()

    line = line_of(a_broken_workflow, "@step(")
    assert (
        f"tests/definition/test_checks.py:{line}: (runs.E006) Broken.work reads 'nowhere'"
        in str(failed.value)
    )
    assert "HINT: Write it in an earlier step" in str(failed.value)


def test_check_says_what_is_only_a_remark() -> None:
    a_workflow_with_a_side_effect()

    assert "(runs.I001) Shouting.shout is a side effect" in what_check_says()


def test_other_commands_are_stopped_by_errors_but_not_bothered_by_remarks() -> None:
    a_workflow_with_a_side_effect()
    a_broken_workflow()

    found = [message.id for message in checks.declarations_hold(None)]

    assert found == ["runs.E006"]


def test_check_names_a_module_that_cannot_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    failure = registry.Failure(
        module="tidy.workflows",
        message="tidy.workflows cannot be imported: SyntaxError: invalid syntax",
        hint="Mend it.",
        place=Place(file="tidy/workflows.py", line=7),
    )
    monkeypatch.setattr(registry, "failures", lambda: [failure])

    with pytest.raises(SystemCheckError, match=r"tidy/workflows\.py:7: \(runs\.E001\) tidy\.work"):
        what_check_says()


def the_changes() -> list[CheckMessage]:
    return checks.plans_are_the_stored_ones(None)


def test_i9_the_same_version_with_another_plan_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    workflow = a_workflow_with_a_side_effect()
    monkeypatch.setattr(plans, "stored_hash", lambda name, version: "0" * 64)

    (changed,) = the_changes()

    assert changed.id == "runs.E022"
    assert changed.obj == workflow.place
    assert "version 1 of 'shouting' has runs that were started with another plan" in changed.msg
    assert "number this one 2" in (changed.hint or "")


def test_i9_the_stored_plan_or_none_is_fine(monkeypatch: pytest.MonkeyPatch) -> None:
    workflow = a_workflow_with_a_side_effect()

    assert the_changes() == []
    monkeypatch.setattr(plans, "stored_hash", lambda name, version: plan_hash(workflow))
    assert the_changes() == []


def test_a_limit_that_changed_without_a_version_is_warned_of_by_check_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    workflow = a_workflow_with_a_side_effect()
    stored = replace(plan_of(workflow), deadline=60.0)
    monkeypatch.setattr(plans, "stored_hash", lambda name, version: stored.hash)
    monkeypatch.setattr(plans, "plan_by_hash", lambda plan_hash: stored)

    assert the_changes() == []
    with checks.everything():
        (warned,) = the_changes()

    assert (warned.id, "deadline is not what version 1" in warned.msg) == ("runs.W028", True)


def test_a_secret_that_is_too_short_to_be_taken_out_is_warned_of(
    monkeypatch: pytest.MonkeyPatch, settings: Settings, tmp_path: Path
) -> None:
    """R11"""
    settings.VAR_DIR = tmp_path
    (tmp_path / "secrets").mkdir()
    (tmp_path / "secrets" / "pin").write_text("12\n")
    monkeypatch.setenv("MILEPOST_SECRET_KEY_OF_SHOP", "abc")
    monkeypatch.setenv("MILEPOST_SECRET_LONG", "abcd")

    with checks.everything():
        warned = checks.secrets_can_be_taken_out(None)

    assert [message.msg.split("”")[0] for message in warned] == [
        "The secret “key_of_shop",
        "The secret “pin",
    ]


def test_a_kind_of_wait_that_nobody_answers_for_is_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert checks.every_wait_is_answered_for(None) == []

    monkeypatch.setattr(gates, "registered", lambda: frozenset({"timer", "retry", "capacity"}))

    missing = checks.every_wait_is_answered_for(None)
    assert {message.id for message in missing} == {"runs.E023"}
    assert any("waits of kind 'decision'" in message.msg for message in missing)


def test_a_database_that_is_not_migrated_yet_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    from django.db import OperationalError

    def no_table(name: str, version: int) -> str | None:
        raise OperationalError("no such table: runs_plan")

    a_workflow_with_a_side_effect()
    monkeypatch.setattr(plans, "stored_hash", no_table)

    assert the_changes() == []
