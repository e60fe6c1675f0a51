"""Every test here declares its workflows into an empty registry."""

from collections.abc import Iterator

import pytest

from runs.definition import registry


@pytest.fixture(autouse=True)
def empty_registry() -> Iterator[None]:
    with registry.isolated():
        yield
