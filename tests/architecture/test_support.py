"""What is absent on this machine is skipped aloud, or fails where it was required."""

import pytest

from tests.support.absent import absent

pytestmark = pytest.mark.one_database


def test_an_absent_server_is_a_skip(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REQUIRE", "postgresql")

    assert isinstance(absent("redis", because="it is not there"), pytest.skip.Exception)


def test_an_absent_server_that_was_required_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REQUIRE", "postgresql, redis")

    assert isinstance(absent("redis", because="it is not there"), pytest.fail.Exception)
