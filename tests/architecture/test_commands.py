"""Every command is tried by some test."""

import re

import pytest
from django.core.management import get_commands, load_command_class

from config.environment import ROOT
from tests.architecture.sources import commands

pytestmark = pytest.mark.one_database


def test_every_command_has_a_test() -> None:
    tests = "\n".join(
        path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py")
    )

    untried = [path.stem for path in commands() if not re.search(rf"[\"']{path.stem}[\"' ]", tests)]

    assert not untried


def test_every_command_says_what_it_does() -> None:
    apps = get_commands()

    silent = [
        path.stem for path in commands() if not load_command_class(apps[path.stem], path.stem).help
    ]

    assert not silent
