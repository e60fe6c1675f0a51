"""What the tests of decisions share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from runs.definition import registry
from tests.approvals import timed, workflows


@pytest.fixture(autouse=True)
def _nobody_is_rung(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """These tests do the work themselves, so no queue is told of it."""
    monkeypatch.setattr("runs.conf.ring", lambda assignment_id: None)


@pytest.fixture(autouse=True)
def _workflows_of_these_tests() -> Iterator[None]:
    with registry.isolated():
        for workflow in (*workflows.made(), *timed.made()):
            registry.register(workflow)
        yield


@pytest.fixture
def receiver(tmp_path: Path) -> Path:
    """A file that counts what arrives."""
    return tmp_path / "receiver"
