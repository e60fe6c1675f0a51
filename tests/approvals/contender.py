"""One of several programs that want to answer the same decisions at the same moment.

Waits until the file GO exists, then does its verb to every decision, each at a moment that all
share but for a few milliseconds of chance, and prints what it was told: `python -m tests.approvals.contender NAME VERB GO ID...`.
"""

import json
import random
import sys
import time
from pathlib import Path

import django

ROUND, SPREAD = 0.25, 0.04


def main(name: str, verb: str, go: Path, decision_ids: list[int]) -> None:
    django.setup()
    _say("ready")
    while not go.exists() or not go.read_text():
        time.sleep(0.001)
    begin, chance = float(go.read_text()), random.Random(name)  # noqa: S311
    told = []
    for number, decision_id in enumerate(decision_ids):
        at = begin + number * ROUND + chance.random() * SPREAD
        time.sleep(max(0.0, at - time.time()))
        told.append(_try(name, verb, decision_id))
    _say(json.dumps(told))


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


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
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]), [int(each) for each in sys.argv[4:]])
