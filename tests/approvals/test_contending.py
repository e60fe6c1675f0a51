"""Many programs at once: every decision has one winner, and the others are told who it was."""

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from approvals.models import Decision, Vote
from runs.models import Assignment, Run, Wait
from runs.queries.clock import db_now
from runs.queries.verify import violations
from tests.approvals.agreed import asking
from tests.approvals.builders import a_person
from tests.support import runs
from tests.support.programs import Site

pytestmark = [pytest.mark.processes, pytest.mark.django_db(transaction=True)]

DECIDERS = {
    **dict.fromkeys(("ann", "ben", "cid", "dan", "eva", "fay"), "approve"),
    **dict.fromkeys(("gus", "hal"), "reject"),
}
CONTENDERS = {**DECIDERS, "the clock": "expire", "omar": "cancel"}
STATES = {"approve": "approved", "reject": "rejected", "expire": "expired", "cancel": "withdrawn"}
DECISIONS, AT_ONCE = 12, 100


def many(amount: int) -> list[int]:
    """So many decisions, asked at once."""
    for number in range(1, amount + 1):
        runs.a_run("payments", {"count": 1})
        if number % AT_ONCE == 0 or number == amount:
            runs.drain()
    return list(Decision.objects.order_by("pk").values_list("pk", flat=True))


def contend(
    site: Site, go: Path, contenders: dict[str, str], ids: list[int]
) -> dict[str, list[dict[str, Any]]]:
    """What each was told of each decision, in processes that came to each of them together."""
    program = site.launch(
        sys.executable,
        "-m",
        "tests.approvals.contender",
        str(go),
        ",".join(map(str, ids)),
        *(f"{name}={verb}" for name, verb in contenders.items()),
        DJANGO_SETTINGS_MODULE="config.settings",
    )

    assert program.ended(within=840) == 0, program.said()
    return {name: json.loads(go.with_name(f"{go.name}.{name}").read_text()) for name in contenders}


@pytest.mark.parametrize(
    "amount",
    [DECISIONS, pytest.param(500, marks=[pytest.mark.long, pytest.mark.timeout(900)])],
    ids=["some", "whole"],
)
def test_of_all_who_answer_at_once_one_wins_and_the_others_are_told_who(
    site: Site, tmp_path: Path, amount: int
) -> None:
    for name in DECIDERS:
        a_person(name)
    ids = many(amount)
    Wait.objects.filter(state="open").update(due_at=db_now())

    answers = contend(site, tmp_path / "go", CONTENDERS, ids)

    won: Counter[int] = Counter()
    told: Counter[int] = Counter()
    for name, of_one in answers.items():
        for one in of_one:
            decision = Decision.objects.get(pk=one["id"])
            if one["won"]:
                won[decision.pk] += 1
                assert decision.state == STATES[CONTENDERS[name]]
                assert decision.closed_by == name
            elif name in DECIDERS:
                told[decision.pk] += 1
                assert f"Already {decision.state}" in one["told"]
                assert f"by {decision.closed_by} at" in one["told"]
    assert won == Counter(ids)
    by_people = set(Decision.objects.filter(closed_by__in=DECIDERS).values_list("pk", flat=True))
    assert all(told[pk] == len(DECIDERS) - (pk in by_people) for pk in ids)
    # The first two were left to the clock and to whoever cancels.
    assert [Decision.objects.get(pk=pk).state for pk in ids[:2]] == ["withdrawn", "expired"]
    assert violations() == []


def test_of_eight_who_vote_at_once_two_count_and_the_others_are_told(
    site: Site, tmp_path: Path
) -> None:
    for name in DECIDERS:
        a_person(name)
    ids = [asking(quorum=2).pk for _ in range(DECISIONS // 2)]

    told = contend(site, tmp_path / "go", dict.fromkeys(DECIDERS, "approve"), ids)

    answers = [one for of_one in told.values() for one in of_one]
    for pk in ids:
        decision = Decision.objects.get(pk=pk)
        votes = list(decision.votes.order_by("pk"))
        assert [one["won"] for one in answers if one["id"] == pk].count(True) == 2
        assert (decision.state, decision.closed_by) == ("approved", votes[1].by)
        assert len(votes) == 2
        assert {vote.digest for vote in votes} == {decision.approved_digest}
        lost = [one["told"] for one in answers if one["id"] == pk and not one["won"]]
        assert all(f"by {votes[1].by} at" in said for said in lost)
    assert violations() == []


def test_every_run_follows_its_decision_and_nothing_else(site: Site, tmp_path: Path) -> None:
    for name in ("ann", "ben"):
        a_person(name)
    ids = many(DECISIONS)

    contend(site, tmp_path / "go", {"ann": "approve", "ben": "reject"}, ids)

    for decision in Decision.objects.all():
        approved = decision.state == "approved"
        assert Vote.objects.get(decision=decision).by == decision.closed_by
        assert Run.objects.get(pk=decision.run_id).state == ("queued" if approved else "cancelled")
        placed = Assignment.objects.filter(run_id=decision.run_id, state="placed").count()
        assert placed == int(approved)
