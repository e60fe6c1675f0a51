"""What the tests of events share with those of durability."""

from tests.dashboard.conftest import looking, operating
from tests.durability.conftest import _no_desk

__all__ = ["_no_desk", "looking", "operating"]
