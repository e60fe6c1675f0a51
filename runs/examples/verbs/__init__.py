"""One small workflow for each thing a step may do; importing this registers them."""

from runs.examples.verbs import calling, keeping, paging, parking, retrying

__all__ = ["calling", "keeping", "paging", "parking", "retrying"]
