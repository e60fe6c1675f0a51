"""What the tests of schedules share."""

from collections.abc import Iterator

import pytest

from runs.definition import gates, registry
from tests.durability.conftest import own_plant
from tests.schedules.builders import made

__all__ = ["own_plant"]


@pytest.fixture
def _known(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The small workflows of these tests; no desk is told of a decision, nobody is rung."""
    monkeypatch.setitem(gates._gates, "decision", gates.Quiet())
    monkeypatch.setattr("runs.conf.ring", lambda assignment_id: None)
    with registry.isolated():
        for workflow in made():
            registry.register(workflow)
        yield
