"""Long work in pages: rows between checkpoints, and judgements that are kept."""

import time
from pathlib import Path
from typing import Annotated, ClassVar

from runs.definition import Run, Workflow, step
from runs.examples import ledger, queries
from runs.examples.verbs.marks import Pause, leave_a_mark


class ExamplePages(Workflow):
    """Writes one row for each number, a page between two checkpoints."""

    name, version = "example_pages", 1

    class Input:
        count: int = 100
        size: int = 10
        pause: Pause = 0.0

    @step(reads=["count", "size", "pause"], writes=["total"])
    def number(self, run: Run) -> None:
        """A killed attempt goes on behind the last checkpoint; no row is written twice."""
        for page in run.pages(range(1, run.read("count") + 1), size=run.read("size")):
            time.sleep(run.read("pause"))
            with run.checkpoint(cursor=page.end):
                ledger.keep_entries(run.id, step=run.step, attempt=run.attempt, values=page)
            run.progress(page.end.ordinal, run.read("count"))
        run.write("total", queries.sum_of_entries(run.id))


class CountingJudge:
    """Says whether a number is even, and leaves a mark whenever it is really asked."""

    name: ClassVar[str] = "example_even"
    parameters: ClassVar[dict[str, int]] = {"divisor": 2}

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def input_of(self, subject: int, /) -> dict[str, int]:
        return {"number": subject}

    def judge(self, question: str, seen: dict[str, int], /) -> dict[str, bool]:
        leave_a_mark(self._folder, f"judged-{seen['number']}")
        return {"even": seen["number"] % 2 == 0}

    def cost(self, answer: dict[str, bool], /) -> dict[str, int]:
        return {"requests": 1}


class ExampleJudge(Workflow):
    """Asks a judge about each number; what is judged and kept is not asked again."""

    name, version = "example_judge", 1

    class Input:
        folder: Annotated[str, "Where each judgement leaves a file, so that they can be counted."]
        count: int = 20
        size: int = 5
        pause: Pause = 0.0

    @step(reads=["folder", "count", "size", "pause"], writes=["even"])
    def judge(self, run: Run) -> None:
        """Each page's judgements are kept with its checkpoint."""
        by = CountingJudge(Path(run.read("folder")))
        for page in run.pages(range(1, run.read("count") + 1), size=run.read("size")):
            judged = [(n, run.judge("Is it even?", n, by=by)) for n in page]
            time.sleep(run.read("pause"))
            even = [number for number, said in judged if said.value["even"]]
            with run.checkpoint(cursor=page.end):
                ledger.keep_entries(run.id, step=run.step, attempt=run.attempt, values=even)
        run.write("even", queries.entries_of(run.id).count())
