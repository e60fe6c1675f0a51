"""What the papers promise is there: commands, make targets, settings, links, the version."""

import inspect
import re
from types import SimpleNamespace

import pytest
from django.core.management import get_commands

from config import environment
from config.environment import ROOT
from config.version import version
from runs.definition import registry
from runs.rules.declarations import problems
from runs.rules.plan import plan_of

pytestmark = pytest.mark.one_database
LINES = {"README.md": 160, "ARCHITECTURE.md": 300, "CONTRIBUTING.md": 60, "SECURITY.md": 25}


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def code_of(name: str) -> str:
    """Code blocks, and code within the text."""
    text = text_of(name)
    return "\n".join(
        re.findall(r"```\w*\n(.*?)```", text, re.DOTALL) + re.findall(r"`([^`\n]+)`", text)
    )


@pytest.mark.parametrize("name", LINES)
def test_a_paper_stays_short(name: str) -> None:
    assert len(text_of(name).splitlines()) <= LINES[name]


@pytest.mark.parametrize("name", LINES)
def test_every_command_that_a_paper_names_exists(name: str) -> None:
    named = set(re.findall(r"manage\.py (\w+)", code_of(name)))

    assert named <= set(get_commands())


@pytest.mark.parametrize("name", LINES)
def test_every_make_target_that_a_paper_names_exists(name: str) -> None:
    targets = set(re.findall(r"^([a-z][a-z-]*):", text_of("Makefile"), re.MULTILINE))

    named = set(re.findall(r"\bmake ([a-z][a-z-]*)", code_of(name)))

    assert named <= targets


@pytest.mark.parametrize("name", [*LINES, "CHANGELOG.md"])
def test_every_file_that_a_paper_links_to_exists(name: str) -> None:
    links = re.findall(r"\]\((?!\w+:)([^)#]+)", text_of(name))

    assert not [link for link in links if not (ROOT / link).exists()]


def test_the_workflow_in_the_readme_is_sound() -> None:
    (block,) = re.findall(r"```python\n(.*?)```", text_of("README.md"), re.DOTALL)
    mailbox = SimpleNamespace(delete=lambda request, *, key, timeout: {"id": request["id"]})

    with registry.isolated():
        exec(compile(block, "README.md", "exec"), {"mailbox": mailbox, "__name__": "readme"})  # noqa: S102
        plan, wrong = plan_of(registry.latest("cleanup")), problems(registry.latest("cleanup"))

    assert [step.key for step in plan.steps] == ["look", "propose", "purge"]
    assert not wrong


def test_the_readme_lists_every_setting_and_no_other() -> None:
    asked = r'read\.\w+\(\s*"([A-Z_]+)"|self\.text\("([A-Z_]+)"'
    read = {"".join(found) for found in re.findall(asked, inspect.getsource(environment))}

    rows = re.findall(r"^\| (`.*?) \|", text_of("README.md"), re.MULTILINE)

    assert set(re.findall(r"`([A-Z_]+)`", " ".join(rows))) == read


def test_the_version_is_the_newest_of_the_changelog() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", version())
    assert text_of("CHANGELOG.md").index("[Unreleased]") < text_of("CHANGELOG.md").index(version())
