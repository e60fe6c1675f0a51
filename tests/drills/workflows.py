"""Where the workflows of these tests are found when their package is named in WORKFLOW_APPS."""

from tests.drills.programs import Curious, Fickle, Program

__all__ = ["Curious", "Fickle", "Program"]
