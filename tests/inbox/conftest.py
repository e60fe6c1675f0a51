"""What the tests of the bundled workflows share."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_django import Settings

from runs.queries.verify import violations


@pytest.fixture
def _mail_into_a_folder(settings: Settings, tmp_path: Path) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.filebased.EmailBackend"
    settings.EMAIL_FILE_PATH = str(tmp_path / "mail")


@pytest.fixture
def _sound_afterwards() -> Iterator[None]:
    """Whatever the test did, every invariant that rows can show still holds."""
    yield
    assert violations() == []
