"""Processes that answer a decision each, and are killed before a statement of it, or at its commit.

Made ready once and forked: `python -m tests.approvals.struck NAME ID:AT...`, where AT is the number
of the statement that is never made, `before` or `after` the commit, or `never`, which counts them.
"""

import os
import signal
import sys
from collections.abc import Callable
from typing import Any

import django


def main(name: str, strokes: list[tuple[int, str]]) -> None:
    django.setup()
    from django.db import connection

    from approvals.ledger import deciding  # noqa: F401 - imported once, before the forks

    assert connection.connection is None
    for decision_id, at in strokes:
        child = os.fork()
        if not child:
            try:
                _answer(name, decision_id, at)
            finally:
                os._exit(0)
        _say(f"{decision_id} {os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])}")


def _answer(name: str, decision_id: int, at: str) -> None:
    from django.db import connection

    from approvals.ledger.deciding import Door, decide
    from approvals.models import Decision
    from runs.management.acting import actor_named

    actor, decision = actor_named(name), Decision.objects.get(pk=decision_id)
    count = Counting(at)
    commit = connection.commit
    setattr(connection, "commit", lambda: count.around(commit))  # noqa: B010
    with connection.execute_wrapper(count):
        decide(
            actor,
            decision_id,
            option="approve",
            fields={},
            comment="Struck.",
            shown_digest=decision.digest,
            confirm=decision.digest,
            through=Door(name="test"),
        )
    _say(f"statements {count.made}")


class Counting:
    """Counts statements, and dies at one of them."""

    def __init__(self, at: str) -> None:
        self.at, self.made = at, 0

    def __call__(self, execute: Callable[..., Any], *asked: Any) -> Any:
        self.made += 1
        if self.at == str(self.made):
            _die()
        return execute(*asked)

    def around(self, commit: Callable[[], None]) -> None:
        if self.at == "before":
            _die()
        commit()
        if self.at == "after":
            _die()


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    asked = [each.split(":") for each in sys.argv[2:]]
    main(sys.argv[1], [(int(decision_id), at) for decision_id, at in asked])
