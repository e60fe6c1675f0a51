"""Rehearsed failure: crash points, the drill and its report."""
