"""The copies of inboxes go with `cleanup`, when their runs have been over for long enough (I14)."""

import shutil
from collections.abc import Iterator
from datetime import datetime
from itertools import islice
from pathlib import Path
from uuid import UUID

from runs.examples.conf import surroundings
from runs.ledger import clearing as ledger
from runs.queries.ended import Ended, ended_before

LOOKED_AT_ONCE = 500


def count(before: datetime) -> int:
    return sum(1 for _ in _outlived(before))


def remove(before: datetime, at_most: int, by: str) -> int:
    """The record first: whoever dies in between leaves a folder that goes the next time."""
    gone = list(islice(_outlived(before), at_most))
    for run in gone:
        ledger.note(run, what="inbox", by=by)
        shutil.rmtree(_folder_of(run))
    return len(gone)


def _outlived(before: datetime) -> Iterator[Ended]:
    """Copies of runs that ended before then; what no run is known by is nobody's to remove."""
    found = (_run_of(folder) for folder in _home().iterdir()) if _home().is_dir() else iter(())
    ids = (run_id for run_id in found if run_id is not None)
    while some := list(islice(ids, LOOKED_AT_ONCE)):
        yield from ended_before(some, before)


def _home() -> Path:
    return surroundings().inboxes


def _folder_of(run: Ended) -> Path:
    return _home() / str(run.id)


def _run_of(folder: Path) -> UUID | None:
    try:
        return UUID(folder.name) if folder.is_dir() and not folder.is_symlink() else None
    except ValueError:
        return None
