"""What the tests of operating share, and what they borrow from those of durability."""

from collections.abc import Iterator

import pytest

from runs.definition import gates, registry
from tests.durability.conftest import _bodies, _no_desk, own_plant, plant
from tests.operating import workflows
from tests.operating.redone import World, made

__all__ = ["_bodies", "_no_desk", "own_plant", "plant"]


@pytest.fixture
def _moves(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The small workflows of these tests; no desk is told of a decision, nobody is rung."""
    monkeypatch.setitem(gates._gates, "decision", gates.Quiet())
    monkeypatch.setattr("runs.conf.ring", lambda assignment_id: None)
    with registry.isolated():
        for workflow in workflows.made():
            registry.register(workflow)
        yield


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """A shop, and the workflows that deal with it; no desk is told, nobody is rung."""
    monkeypatch.setitem(gates._gates, "decision", gates.Quiet())
    monkeypatch.setattr("runs.conf.ring", lambda assignment_id: None)
    there = World()
    with registry.isolated():
        for workflow in made(there):
            registry.register(workflow)
        yield there
