"""The command `workflows`: list, show, new."""

import json
import os
import subprocess
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from config.environment import ROOT
from runs.definition import Approval, Workflow, step
from runs.rules.plan import plan_hash
from tests.definition.builders import a_harmless_effect, an_effect

pytestmark = pytest.mark.one_database

report = a_harmless_effect()
delete = an_effect()


def said_by(*words: str) -> str:
    said = StringIO()
    call_command("workflows", *words, stdout=said)
    return said.getvalue()


def a_triage(version: int = 1) -> type[Workflow]:
    number = version

    class Triage(Workflow, abstract=True):
        """Sort, then delete."""

        class Input:
            inbox: str
            limit: int = 10

        @step(reads=["inbox", "limit"], writes=["deletions"])
        def propose(self, run: Any) -> None:
            run.plan("deletions", delete, resource=run.read("inbox"), request=run.read("limit"))

        @step(
            reads=["deletions"],
            effects=[delete],
            approval=Approval(of="deletions", groups=["approvers"]),
        )
        def purge(self, run: Any) -> None:
            run.apply("deletions")

        @step(effects=[report])
        def tell(self, run: Any) -> None:
            run.call(report, resource="1", request={})

    class Numbered(Triage):
        name, version = "triage", number

    Numbered.__qualname__ = f"Numbered{number}"
    return Numbered


def a_broken_one() -> None:
    class Broken(Workflow):
        name, version = "broken", 1

        @step(reads=["nowhere"])
        def work(self, run: Any) -> None: ...


@pytest.mark.django_db
def test_list_names_every_workflow_with_its_plan() -> None:
    workflow = a_triage()

    listed = json.loads(said_by("list", "--json"))["workflows"]

    assert [(item["name"], item["version"], item["plan_hash"]) for item in listed] == [
        ("triage", 1, plan_hash(workflow))
    ]
    assert listed[0]["steps"] == ["propose", "purge", "tell"]
    assert said_by("list").split() == [
        "triage", "1", plan_hash(workflow)[:12], "propose", "→", "purge", "→", "tell",
    ]  # fmt: skip


def test_list_of_nothing_says_how_to_begin() -> None:
    assert "`manage.py workflows new NAME` begins one" in said_by("list")


@pytest.mark.django_db
def test_list_shows_a_broken_workflow_and_exits_with_1() -> None:
    a_triage()
    a_broken_one()
    said = StringIO()

    with pytest.raises(CommandError, match=r"Cannot run: broken\. `manage\.py check`") as refused:
        call_command("workflows", "list", stdout=said)

    assert refused.value.returncode == 1
    assert "cannot run" in said.getvalue()
    assert "triage" in said.getvalue()


def test_show_prints_the_plan_of_the_latest_version() -> None:
    a_triage(1)
    a_triage(2)

    shown = said_by("show", "triage")

    assert shown.startswith("triage version 2, plan ")
    assert "input inbox: text, required." in shown
    assert "input limit: whole number, default 10." in shown
    assert "effect mailbox.delete: irreversible; an unknown result: contract" in shown
    assert "asks approvers about deletions" in shown
    assert "3. tell  [side effect]  (tests/definition/test_workflows_command.py:" in shown


def test_show_as_json_holds_the_whole_plan_and_its_problems() -> None:
    workflow = a_triage()

    shown = json.loads(said_by("show", "triage", "--version", "1", "--json"))

    assert shown["hash"] == plan_hash(workflow)
    assert [step["key"] for step in shown["steps"]] == ["propose", "purge", "tell"]
    assert [problem["id"] for problem in shown["problems"]] == ["runs.I001"]


@pytest.mark.parametrize("words", [("show", "nothing"), ("show", "triage", "--version", "7")])
def test_show_of_what_is_not_there_exits_with_1(words: tuple[str, ...]) -> None:
    a_triage()

    with pytest.raises(CommandError, match=r"Registered: triage 1\.") as refused:
        said_by(*words)

    assert refused.value.returncode == 1


def test_show_of_a_broken_workflow_says_what_to_mend() -> None:
    a_broken_one()

    with pytest.raises(CommandError, match=r"Broken\.work reads 'nowhere'") as refused:
        said_by("show", "broken")

    assert refused.value.returncode == 1


@pytest.mark.parametrize("words", [[], ["dance"], ["show"], ["new"], ["list", "--jsn"]])
def test_wrong_usage_exits_with_2(words: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "manage.py", "workflows", *words],
        cwd=ROOT,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "tests.support.settings"},
        capture_output=True,
        check=False,
    )

    assert done.returncode == 2


def test_new_writes_an_app_and_says_what_comes_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    said = said_by("new", "tidy_inbox")

    assert "WORKFLOW_APPS=tidy_inbox python manage.py check" in said
    assert {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.py")} == {
        "tidy_inbox/__init__.py",
        "tidy_inbox/apps.py",
        "tidy_inbox/workflows.py",
        "tidy_inbox/tests/__init__.py",
        "tidy_inbox/tests/test_tidy_inbox.py",
    }


@pytest.mark.processes
@pytest.mark.parametrize("name", ["tidy_inbox", pytest.param("a1", marks=pytest.mark.long)])
def test_a_new_app_passes_the_checks_and_its_own_test(name: str, tmp_path: Path) -> None:
    told = {
        **os.environ,
        "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}",
        "TEST_DATABASE": "sqlite",
        "VAR_DIR": str(tmp_path / "var"),
        "DJANGO_SETTINGS_MODULE": "config.settings",
    }
    manage = [sys.executable, str(ROOT / "manage.py")]

    def run(*words: str, **more: str) -> None:
        done = subprocess.run(
            words, cwd=tmp_path, env={**told, **more}, capture_output=True, check=False, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr

    run(*manage, "workflows", "new", name)

    run(*manage, "check", WORKFLOW_APPS=name)
    run(*manage, "workflows", "show", name, WORKFLOW_APPS=name)
    run(
        *(
            sys.executable,
            "-m",
            "pytest",
            "--rootdir",
            str(ROOT),
            "-c",
            str(ROOT / "pyproject.toml"),
        ),
        *("-p", "no:cacheprovider", name),
        DJANGO_SETTINGS_MODULE="tests.support.settings",
    )
    run(
        sys.executable,
        "-m",
        "ruff",
        "format",
        "--check",
        "--config",
        str(ROOT / "pyproject.toml"),
        name,
    )


def test_new_as_json_names_the_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    written = json.loads(said_by("new", "tidy_inbox", "--json"))

    assert written["name"] == "tidy_inbox"
    assert all((tmp_path / file).is_file() for file in written["files"])


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("there", "is already there. Choose another name"),
        ("runs", "already the name of a module"),
        ("json", "already the name of a module"),
        ("Tidy", "is no name for an app"),
        ("class", "makes a name that Python or its files need"),
        ("none", "makes a name that Python or its files need"),
        ("rehearsal", "makes a name that Python or its files need"),
        ("auth", "already the label of an app"),
        ("triage", "already the name of a workflow"),
        ("../tidy", "is no name for an app"),
    ],
)
def test_new_overwrites_and_shadows_nothing(
    name: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    a_triage()
    (tmp_path / "there").mkdir()
    monkeypatch.chdir(tmp_path)

    with pytest.raises(CommandError, match=said) as refused:
        said_by("new", name)

    assert refused.value.returncode == 1
    assert [path.name for path in tmp_path.iterdir()] == ["there"]
