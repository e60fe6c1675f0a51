"""Processes that do something to a decision each, and are killed before a statement of it, or at its commit.

Made ready once and forked: `python -m tests.approvals.struck NAME ID:AT:WHAT...`, where AT is the number
of the statement that is never made, `before` or `after` the commit, or `never`, which counts them. WHAT
is what is done: `answer`, `reopen`, `ask` or `see`.
"""

import os
import signal
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import django

if TYPE_CHECKING:
    from runs.rules.policy import Actor


def main(name: str, strokes: list[tuple[int, str, str]]) -> None:
    django.setup()
    from django.db import connection

    from approvals.ledger import deciding  # noqa: F401 - imported once, before the forks

    assert connection.connection is None
    for decision_id, at, what in strokes:
        child = os.fork()
        if not child:
            try:
                _struck(name, decision_id, at, what)
            finally:
                os._exit(0)
        _say(f"{decision_id} {os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])}")


def _struck(name: str, decision_id: int, at: str, what: str) -> None:
    from django.db import connection

    from runs.management.acting import actor_named

    actor, act, count = actor_named(name), ACTS[what], Counting(at)
    commit = connection.commit
    setattr(connection, "commit", lambda: count.around(commit))  # noqa: B010
    with connection.execute_wrapper(count):
        act(actor, decision_id)
    _say(f"statements {count.made}")


def answer(actor: "Actor", decision_id: int) -> None:
    from approvals.ledger.deciding import Door, decide
    from approvals.models import Decision

    decision = Decision.objects.get(pk=decision_id)
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


def reopen(actor: "Actor", decision_id: int) -> None:
    """What it rested on has moved."""
    from approvals.ledger import grounds

    grounds.reopen(actor, decision_id)


def ask(actor: "Actor", decision_id: int) -> None:
    """A receiver was asked again, and says something new."""
    from approvals.ledger import askings
    from runs.engine.asking import Said

    said = Said(outcome="found", said='{"id":"r-1"}', receiver_id="r-1", settled=True)
    askings.record(actor, decision_id, said)


def see(actor: "Actor", decision_id: int) -> None:
    """Somebody has had the whole of it."""
    from approvals.ledger import sights

    sights.note(actor, decision_id, how="download")


ACTS: dict[str, Callable[["Actor", int], None]] = {
    "answer": answer,
    "reopen": reopen,
    "ask": ask,
    "see": see,
}


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
    main(sys.argv[1], [(int(decision_id), at, what) for decision_id, at, what in asked])
