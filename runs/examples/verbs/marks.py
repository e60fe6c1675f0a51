"""Marks that attempts leave behind, so that they can be counted across processes and crashes."""

from pathlib import Path
from typing import Annotated

from runs.definition import Run

Pause = Annotated[float, "Seconds to stay inside the body, so that it can be killed there."]
Marks = Annotated[str, "Where each entry into the body leaves a file; empty: nowhere."]


def leave_a_mark(folder: Path, name: str) -> int:
    """One more file of this name; how many there are now, counted across processes and crashes."""
    folder.mkdir(parents=True, exist_ok=True)
    number = 1
    while True:
        try:
            (folder / f"{name}-{number:04d}").touch(exist_ok=False)
        except FileExistsError:
            number += 1
        else:
            return number


def leave_a_mark_if_told(run: Run, name: str) -> None:
    if run.read("folder"):
        leave_a_mark(Path(run.read("folder")), name)
