"""Where the workflows of these tests are found when their package is named in WORKFLOW_APPS."""

from tests.drills.programs import Program

__all__ = ["Program"]
