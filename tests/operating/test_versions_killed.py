"""A worker is killed while it takes a run along or asks: the run is wholly where it was, or wholly where it goes."""

import multiprocessing
import os
import signal
from collections.abc import Callable

import pytest
from django.db import connections

from runs.engine import faults
from runs.engine.versions import Caretaker, code_here
from runs.ledger import audit
from runs.queries.verify import violations
from tests.operating.releases import (
    ENTERED,
    SENT,
    S,
    asked,
    begun,
    go_on,
    posting,
    release,
    writing,
)
from tests.support import runs
from tests.support.waiting import PATIENCE

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("_no_desk"),
    pytest.mark.processes,
]

FORK = multiprocessing.get_context("fork")
FIRST, SECOND, THIRD = writing("weigh", "weight"), writing("pack", "box"), posting("post")
WRAPPED = [FIRST, writing("wrap", "paper"), THIRD]
CHANGED = [writing("weigh", "grams"), SECOND, THIRD]


@pytest.fixture(autouse=True)
def _empty() -> None:
    ENTERED.clear()
    SENT.clear()


def _die(*_: object, **__: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def before_the_last_write() -> None:
    setattr(audit, "append", _die)  # noqa: B010 - a function is no variable for mypy


def behind_the_commit() -> None:
    faults.arm_this_process("migration_committed:1")


def behind_the_question() -> None:
    faults.arm_this_process("parked:1")


def killed_while_looking(arm: Callable[[], None]) -> None:
    """Another process, with this code, looks after stranded runs and is killed on its way."""

    def look() -> None:
        arm()
        Caretaker(code_here()).look()

    runs.wait_for_keepers()
    connections.close_all()
    child = FORK.Process(target=look)
    child.start()
    child.join(PATIENCE)
    assert child.exitcode == -signal.SIGKILL


@pytest.mark.parametrize(
    ("steps", "arm", "version"),
    [
        (WRAPPED, before_the_last_write, 1),
        (WRAPPED, behind_the_commit, 2),
        (CHANGED, before_the_last_write, 1),
        (CHANGED, behind_the_question, 1),
    ],
    ids=["in the move", "behind the move", "in the question", "behind the question"],
)
def test_a_kill_leaves_the_run_wholly_before_or_wholly_behind(
    steps: list[S], arm: Callable[[], None], version: int
) -> None:
    with release((1, [FIRST, SECOND, THIRD])):
        run_id = begun(until="pack")

    with release((2, steps)):
        killed_while_looking(arm)
        assert runs.the_run(run_id).version == version
        assert (runs.state_of(run_id) == "waiting") == (arm is behind_the_question)
        assert violations([run_id]) == []
        go_on()
        if steps is CHANGED:
            assert asked(run_id)
            runs.answer(run_id, "redo")
            go_on()

    assert (runs.the_run(run_id).version, runs.state_of(run_id)) == (2, "succeeded")
    assert violations([run_id]) == []
