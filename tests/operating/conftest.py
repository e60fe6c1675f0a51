"""What the tests of operating share."""

from collections.abc import Iterator

import pytest

from runs.definition import gates, registry
from tests.operating import workflows


@pytest.fixture
def _moves(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The small workflows of these tests; no desk is told of a decision, nobody is rung."""
    monkeypatch.setitem(gates._gates, "decision", gates.Quiet())
    monkeypatch.setattr("runs.conf.ring", lambda assignment_id: None)
    with registry.isolated():
        for workflow in workflows.made():
            registry.register(workflow)
        yield
