"""Several processes that want to answer the same decisions at the same moment.

One program is made ready and forks, so that each contender is a process of its own with a session
of its own. Each does its verb to every decision, and writes down what it was told, beside GO. All wait
for one another before each decision; the first decisions have somebody each who comes first, so that
whoever wins the others, every way to win is seen: `python -m tests.approvals.contender GO ID,ID,...
NAME=VERB...`.
"""

import json
import os
import random
import sys
import time
import traceback
from multiprocessing import get_context
from multiprocessing.synchronize import Barrier
from pathlib import Path

import django

SPREAD, PATIENCE = 0.04, 90.0
# So many decisions are won by one who is named: the last, and the last but one.
LED = 2


def main(go: Path, decision_ids: list[int], contenders: dict[str, str]) -> int:
    django.setup()
    _make_ready()
    together = get_context("fork").Barrier(len(contenders))
    leaders = list(contenders)[: -LED - 1 : -1]
    children = [_fork(go, decision_ids, together, leaders, *each) for each in contenders.items()]
    return max(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children)


def _make_ready() -> None:
    """What is imported before the fork is imported once; nobody has a session yet."""
    from django.db import connection

    from approvals.ledger import deciding  # noqa: F401

    assert connection.connection is None


def _fork(
    go: Path, decision_ids: list[int], together: Barrier, leaders: list[str], name: str, verb: str
) -> int:
    if child := os.fork():
        return child
    code = 1
    try:
        told = _contend(decision_ids, together, leaders, name, verb)
        go.with_name(f"{go.name}.{name}").write_text(json.dumps(told))
        code = 0
    finally:
        if code:
            traceback.print_exc()
        os._exit(code)


def _contend(
    decision_ids: list[int], together: Barrier, leaders: list[str], name: str, verb: str
) -> list[dict[str, object]]:
    chance, told = random.Random(name), []  # noqa: S311
    for number, decision_id in enumerate(decision_ids):
        together.wait(PATIENCE)
        leads = number < len(leaders) and leaders[number] == name
        if leads:
            told.append(_try(name, verb, decision_id))
        together.wait(PATIENCE)
        if not leads:
            time.sleep(chance.random() * SPREAD)
            told.append(_try(name, verb, decision_id))
    return told


def _try(name: str, verb: str, decision_id: int) -> dict[str, object]:
    from approvals.ledger.holding import DecisionClosed

    try:
        won = _act(name, verb, decision_id)
    except DecisionClosed as closed:
        return {"id": decision_id, "won": False, "told": str(closed)}
    return {"id": decision_id, "won": won, "told": ""}


def _act(name: str, verb: str, decision_id: int) -> bool:
    from approvals.ledger.deciding import Door, decide
    from approvals.models import Decision
    from runs.ledger import lifecycle, waking
    from runs.ledger.transitions import MoveRefused
    from runs.management.acting import actor_named
    from runs.rules.policy import local_operator

    decision = Decision.objects.get(pk=decision_id)
    if verb == "expire":
        return waking.expire(decision.wait_id)
    if verb == "cancel":
        try:
            lifecycle.cancel(local_operator(name), decision.run_id, because="not wanted")
        except MoveRefused:
            return False
        return Decision.objects.get(pk=decision_id).state == "withdrawn"
    decide(
        actor_named(name),
        decision_id,
        option=verb,
        fields={},
        comment=f"by {name}",
        shown_digest=decision.digest,
        confirm=decision.digest,
        through=Door(name="test"),
    )
    return True


if __name__ == "__main__":
    ids = [int(each) for each in sys.argv[2].split(",")]
    pairs = dict(each.split("=") for each in sys.argv[3:])
    sys.exit(main(Path(sys.argv[1]), ids, pairs))
