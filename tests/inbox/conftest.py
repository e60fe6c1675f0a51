"""What the tests of the bundled workflows share."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_django import Settings

from runs.definition import gates


@pytest.fixture
def _answered_by_the_test(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No desk is told of a decision; the test answers the wait itself."""
    with monkeypatch.context() as quiet:
        quiet.setitem(gates._gates, "decision", gates.Quiet())
        yield


@pytest.fixture
def _mail_into_a_folder(settings: Settings, tmp_path: Path) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.filebased.EmailBackend"
    settings.EMAIL_FILE_PATH = str(tmp_path / "mail")
