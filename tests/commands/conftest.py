"""What the tests of commands share."""

from collections.abc import Iterator

import pytest

from runs.definition import gates, registry
from tests.commands import workflows


@pytest.fixture(autouse=True)
def _answered_by_the_test(monkeypatch: pytest.MonkeyPatch) -> None:
    """No desk is told of a decision; the test answers the wait itself."""
    monkeypatch.setitem(gates._gates, "decision", gates.Quiet())


@pytest.fixture(autouse=True)
def _workflows_of_these_tests() -> Iterator[None]:
    with registry.isolated():
        for workflow in workflows.made():
            registry.register(workflow)
        yield
