"""What ARCHITECTURE.md says is so: paths, states, moves, words, commands."""

import re
from enum import StrEnum

import pytest
from django.apps import apps
from django.core.management import get_commands

from config.environment import ROOT
from monitors.rules import states as monitor_states
from runs.rules import states

pytestmark = pytest.mark.one_database

TEXT = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
OURS = ("runs", "approvals", "monitors", "config")


def test_every_path_it_names_exists() -> None:
    named = set(re.findall(r"`((?:runs|approvals|monitors|config|tests)/[\w/.]+)`", TEXT))

    assert named
    assert not [path for path in named if not (ROOT / path).exists()]


def test_the_moves_it_draws_are_those_of_the_rules() -> None:
    drawn = {
        source: frozenset(targets.split())
        for source, targets in re.findall(r"^(\w+) +-> ([\w ]+)$", TEXT, re.MULTILINE)
    }
    final = re.findall(r"^([\w, ]+): final$", TEXT, re.MULTILINE)

    assert drawn == {
        source.value: frozenset(target.value for target in targets)
        for source, targets in states.MOVES.items()
        if targets
    }
    assert set(final[0].split(", ")) == {state.value for state in states.FINAL}


@pytest.mark.parametrize(
    "enum",
    [
        states.StepState,
        states.CallState,
        states.WaitState,
        states.WaitKind,
        states.AssignmentState,
        states.WorkerState,
        states.DeliveryState,
        states.DecisionState,
        monitor_states.MonitorState,
        monitor_states.Verdict,
        monitor_states.PingKind,
    ],
)
def test_it_names_every_state(enum: type[StrEnum]) -> None:
    section = TEXT.partition("## States")[2].partition("## ")[0]

    assert not [state.value for state in enum if not re.search(rf"\b{state.value}\b", section)]


def test_it_explains_every_table() -> None:
    glossary = TEXT.partition("## Glossary")[2].partition("Commands:")[0].lower()
    tables = [
        str(model._meta.verbose_name)
        for label in ("runs", "approvals", "monitors")
        for model in apps.get_app_config(label).get_models()
    ]

    assert not [name for name in tables if name not in glossary]


def test_it_explains_every_command() -> None:
    ours = {name for name, app in get_commands().items() if app in OURS}

    assert not [name for name in ours if f"`{name}`" not in TEXT]
