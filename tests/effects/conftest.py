"""What the tests of effects share with those of durability."""

from tests.durability.conftest import _bodies, _no_desk, own_plant, plant

__all__ = ["_bodies", "_no_desk", "own_plant", "plant"]
