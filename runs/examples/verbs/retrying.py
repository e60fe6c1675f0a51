"""Trying again: after a plain failure, and when the step says how long to wait."""

import time
from datetime import timedelta
from pathlib import Path
from typing import Annotated

from runs.definition import Retry, RetryLater, Run, Workflow, step
from runs.examples.verbs.marks import Pause, leave_a_mark

NOT_YET = "it is not time yet"


class ExampleRetry(Workflow):
    """Fails a given number of times, asks for patience once, then succeeds."""

    name, version = "example_retry", 1

    class Input:
        folder: Annotated[str, "Where each attempt leaves a file, so that they can be counted."]
        failures: int = 2
        patience: Annotated[float, "Seconds that RetryLater asks for."] = 0.2
        pause: Pause = 0.0

    @step(
        reads=["folder", "failures", "pause"],
        writes=["failed"],
        retry=Retry(attempts=5, base=timedelta(milliseconds=50), maximum=timedelta(seconds=1)),
    )
    def fail_then_succeed(self, run: Run) -> None:
        """A plain failure is tried again, after a longer wait each time."""
        tried = leave_a_mark(Path(run.read("folder")), "failing")
        time.sleep(run.read("pause"))
        if tried <= run.read("failures"):
            raise ConnectionError(f"failure {tried} of {run.read('failures')}, on purpose")
        run.write("failed", tried - 1)

    @step(reads=["folder", "patience", "failed"], writes=["tried"])
    def come_back_later(self, run: Run) -> None:
        """Whoever knows how long to wait says so with RetryLater."""
        tried = leave_a_mark(Path(run.read("folder")), "patient")
        if tried == 1:
            raise RetryLater(timedelta(seconds=run.read("patience")), NOT_YET)
        run.write("tried", tried + run.read("failed"))
