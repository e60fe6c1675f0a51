"""What the tests of effects share with those of durability."""

from tests.durability.conftest import _bodies, own_plant, plant

__all__ = ["_bodies", "own_plant", "plant"]
