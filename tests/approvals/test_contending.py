"""Many programs at once: every decision has one winner, and the others are told who it was."""

import json
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from approvals.models import Decision, Vote
from runs.models import Assignment, Run, Wait
from runs.queries.clock import db_now
from tests.approvals.builders import a_decision, a_person
from tests.support.programs import Program, Site

pytestmark = [pytest.mark.processes, pytest.mark.django_db(transaction=True)]

CONTENDERS = (
    ("ann", "approve"),
    ("ben", "approve"),
    ("cid", "reject"),
    ("the clock", "expire"),
    ("omar", "cancel"),
)
STATES = {"approve": "approved", "reject": "rejected", "expire": "expired", "cancel": "withdrawn"}
DECISIONS = 20


def contending(site: Site, name: str, verb: str, go: Path, ids: list[int]) -> Program:
    program = site.launch(
        sys.executable,
        "-m",
        "tests.approvals.contender",
        name,
        verb,
        str(go),
        *map(str, ids),
        DJANGO_SETTINGS_MODULE="config.settings",
    )
    program.says("ready")
    return program


def test_of_all_who_answer_at_once_one_wins_and_the_others_are_told_who(
    site: Site, tmp_path: Path
) -> None:
    for name in ("ann", "ben", "cid"):
        a_person(name)
    ids = [a_decision(count=1).pk for _ in range(DECISIONS)]
    Wait.objects.update(due_at=db_now())
    go = tmp_path / "go"
    programs = {(name, verb): contending(site, name, verb, go, ids) for name, verb in CONTENDERS}

    go.write_text(str(time.time() + 0.5))

    won: Counter[int] = Counter()
    for (name, verb), program in programs.items():
        assert program.ended() == 0, program.said()
        for told in json.loads(program.said().splitlines()[-1]):
            decision = Decision.objects.get(pk=told["id"])
            if told["won"]:
                won[decision.pk] += 1
                assert decision.state == STATES[verb]
                assert decision.closed_by == name
            elif told["told"]:
                assert f"Already {decision.state}" in told["told"]
                assert f"by {decision.closed_by} at" in told["told"]
    assert won == Counter(ids)
    # Else nobody had to give way to anybody.
    assert len({one.state for one in Decision.objects.all()}) >= 2


def test_every_run_follows_its_decision_and_nothing_else(site: Site, tmp_path: Path) -> None:
    for name in ("ann", "ben"):
        a_person(name)
    ids = [a_decision(count=1).pk for _ in range(DECISIONS)]
    go = tmp_path / "go"
    programs = [
        contending(site, name, verb, go, ids)
        for name, verb in (("ann", "approve"), ("ben", "reject"))
    ]

    go.write_text(str(time.time() + 0.5))

    assert [program.ended() for program in programs] == [0, 0]
    for decision in Decision.objects.all():
        approved = decision.state == "approved"
        assert Vote.objects.get(decision=decision).by == decision.closed_by
        assert Run.objects.get(pk=decision.run_id).state == ("queued" if approved else "cancelled")
        placed = Assignment.objects.filter(run_id=decision.run_id, state="placed").count()
        assert placed == int(approved)
