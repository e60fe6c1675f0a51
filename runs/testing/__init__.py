"""Lets an author run a workflow inside a test: the real engine, in the test's own process."""

from runs.testing.outcomes import Outcome, outcome_of
from runs.testing.working import run_workflow, work

__all__ = ["Outcome", "outcome_of", "run_workflow", "work"]
