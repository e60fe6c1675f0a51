"""Keeping things: rows in one transaction, lines in the log, artifacts."""

import time
from typing import Annotated

from runs.definition import Run, Workflow, step
from runs.examples import ledger
from runs.examples.verbs.marks import Pause


class ExampleTransactional(Workflow):
    """Writes rows together with the record that the step is done, or not at all."""

    name, version = "example_transactional", 1

    class Input:
        count: int = 10
        pause: Pause = 0.0

    @step(reads=["count", "pause"], writes=["written"], transactional=True)
    def write(self, run: Run) -> None:
        """A kill anywhere in here leaves no row behind."""
        numbers = range(1, run.read("count") + 1)
        ledger.keep_entries(run.id, step=run.step, attempt=run.attempt, values=numbers)
        time.sleep(run.read("pause"))
        run.write("written", len(numbers))


class ExampleLog(Workflow):
    """Says how far it has come, and leaves lines in the run's log."""

    name, version = "example_log", 1

    class Input:
        count: int = 5
        pause: Pause = 0.0

    @step(reads=["count", "pause"], writes=["counted"])
    def count(self, run: Run) -> None:
        """Progress and log lines can be watched while the body runs."""
        for number in range(1, run.read("count") + 1):
            time.sleep(run.read("pause"))
            run.log("counted", number=number)
            run.progress(number, run.read("count"))
        run.write("counted", run.read("count"))


class ExampleArtifact(Workflow):
    """Stores what is too large for a fact, and keeps a reference to it."""

    name, version = "example_artifact", 1

    class Input:
        size: Annotated[int, "Bytes to store."] = 300_000
        pause: Pause = 0.0

    @step(reads=["size", "pause"], writes=["stored"])
    def store(self, run: Run) -> None:
        """The reference is a small JSON value with the digest."""
        content = b"milepost\n" * (run.read("size") // 9 + 1)
        reference = run.artifact("numbers.txt", content[: run.read("size")], "text/plain")
        time.sleep(run.read("pause"))
        run.write("stored", reference)
