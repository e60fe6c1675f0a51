"""Processes that do one duty of the watch each, and are killed before a statement of it, or at its commit.

Made ready once and forked: `python -m tests.approvals.struck_clock DUTY ID:AT...`, AT as in `struck`.
"""

import os
import sys
from functools import partial
from typing import TYPE_CHECKING

import django

from tests.approvals.struck import Counting, _say

if TYPE_CHECKING:
    from collections.abc import Callable


def main(duty: str, strokes: list[tuple[int, str]]) -> None:
    django.setup()
    from approvals import tasks  # noqa: F401 - imported once, before the forks

    for number, at in strokes:
        child = os.fork()
        if not child:
            try:
                _do(duty, number, at)
            finally:
                os._exit(0)
        _say(f"{number} {os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])}")


def _do(duty: str, number: int, at: str) -> None:
    from django.db import connection

    from approvals import tasks
    from approvals.ledger import noticing, ruling
    from runs.engine import ordered
    from runs.ledger import waking

    acts: dict[str, Callable[[int], object]] = {
        "notice": noticing.tell_due,
        "rule": ruling.answer,
        "deferred": waking.expire,
        "batch": partial(ordered.do_item, tasks.BATCHES),
        "selection": partial(ordered.do_item, ordered.SELECTIONS),
    }
    connection.ensure_connection()
    count = Counting(at)
    commit = connection.commit
    connection.commit = lambda: count.around(commit)  # type: ignore[method-assign]
    with connection.execute_wrapper(count):
        acts[duty](number)
    _say(f"statements {count.made}")


if __name__ == "__main__":
    asked = [each.split(":") for each in sys.argv[2:]]
    main(sys.argv[1], [(int(number), at) for number, at in asked])
