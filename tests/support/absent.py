"""What happens when this machine lacks something: a loud skip, or a failure if it was required."""

import os

import pytest


def absent(what: str, *, because: str) -> BaseException:
    """REQUIRE=postgresql,redis,chromium turns the skip of each into a failure."""
    required = {name.strip() for name in os.environ.get("REQUIRE", "").split(",")}
    if what in required:
        return pytest.fail.Exception(f"{what} is required here, but {because}.", pytrace=False)
    return pytest.skip.Exception(f"{what} is absent: {because}.")
