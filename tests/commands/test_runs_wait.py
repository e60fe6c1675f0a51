"""`runs start --wait`: it shows how far the run is, says who has to decide, and ends as the run does."""

from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID

import pytest
from django.db import OperationalError

from runs.ledger import lifecycle
from runs.management import waiting
from runs.models import Run
from runs.queries import following
from tests.commands.saying import Said, manage
from tests.support import runs

pytestmark = pytest.mark.django_db(transaction=True)


class Meanwhile:
    """A clock whose every pause lets the next thing happen, and then the next."""

    def __init__(self, *happenings: Callable[[], object]) -> None:
        self.happenings: Iterator[Callable[[], object]] = iter(happenings)
        self.now = 0.0

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        happening = next(self.happenings, None)
        assert happening, "the command still waits, and nothing more happens"
        happening()

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Said]:
    """`runs start WORDS`, while this and that happens between its looks."""

    def started(*words: str, meanwhile: tuple[Callable[[], object], ...], **how: Any) -> Said:
        runs.the_tenant()
        monkeypatch.setattr(waiting, "time", Meanwhile(*meanwhile))
        return manage("runs", "start", *words, **how)

    return started


def the_one() -> UUID:
    return Run.objects.get().pk


def nothing() -> None:
    """Time passes."""


def answered() -> None:
    runs.answer(the_one(), "blue", fields={})
    runs.drain()


def cancelled() -> None:
    lifecycle.cancel(runs.the_operator(), the_one(), because="not wanted")


def test_it_ends_with_0_when_the_run_has_succeeded(start: Callable[..., Said]) -> None:
    said = start("count", "--wait", meanwhile=(nothing, runs.drain))

    assert said.code == 0
    assert said.out.splitlines()[1] == f"run {the_one()} is succeeded"


def test_with_json_it_gives_one_document_with_the_audit_line(start: Callable[..., Said]) -> None:
    said = start("count", "--reference", "monday", "--wait", "--json", meanwhile=(runs.drain,))

    assert {name: said.json[name] for name in ("id", "reference", "state")} == {
        "id": str(the_one()),
        "reference": "monday",
        "state": "succeeded",
    }
    line = said.json["audit_line"]
    assert line["state"] == "succeeded"
    assert [step["key"] for step in line["steps"]] == ["count", "greet"]
    assert f"run {the_one()}" in said.err


@pytest.mark.parametrize(("workflow", "state"), [("fail", "failed"), ("ask", "cancelled")])
def test_it_ends_with_1_when_the_run_did_not_succeed(
    start: Callable[..., Said], workflow: str, state: str
) -> None:
    happens = (runs.drain,) if workflow == "fail" else (runs.drain, cancelled)

    said = start(workflow, "--wait", "--json", meanwhile=happens)

    assert (said.code, said.json["state"]) == (1, state)


def test_it_says_what_is_asked_and_where_to_decide_and_waits_on(
    start: Callable[..., Said],
) -> None:
    said = start("ask", "--wait", meanwhile=(runs.drain, nothing, answered))

    assert said.code == 0
    assert said.err.count("Waits for a decision: Which colour?") == 1
    assert "Decide at http://" in said.err
    assert "manage.py decisions list" in said.err


def test_it_may_return_when_somebody_has_to_decide(start: Callable[..., Said]) -> None:
    said = start("ask", "--until-parked", "--json", meanwhile=(runs.drain,))

    assert (said.code, said.json["state"]) == (0, "waiting")
    assert said.json["audit_line"]["in_flight"] == "paint"


def test_a_sleeping_run_is_no_reason_to_return(start: Callable[..., Said]) -> None:
    def wakes() -> None:
        runs.let_it_be_due(the_one())
        runs.drain()

    said = start("nap", "--until-parked", meanwhile=(runs.drain, nothing, wakes))

    assert "sleeps" in said.err
    assert said.out.splitlines()[1] == f"run {the_one()} is succeeded"


def test_it_says_that_no_worker_is_alive_when_the_run_stays_queued(
    start: Callable[..., Said],
) -> None:
    said = start("count", "--wait", meanwhile=(*[nothing] * 25, runs.drain))

    assert said.err.count("no worker is alive") == 1


def test_each_step_is_a_line_where_there_is_no_terminal(start: Callable[..., Said]) -> None:
    said = start("count", "--wait", meanwhile=(runs.drain,))

    assert said.err.splitlines() == ["step 1/2 count", "step 2/2 greet"]


def test_a_terminal_gets_a_bar(start: Callable[..., Said]) -> None:
    said = start("count", "--wait", meanwhile=(runs.drain,), terminal=True)

    assert "step 1/2 count |" in said.err
    assert "step 2/2 greet |" in said.err
    assert "100%" in said.err


def test_a_database_that_is_away_for_a_moment_ends_nothing(
    start: Callable[..., Said], monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = iter([OperationalError("gone"), OperationalError("gone")])
    look = following.glance_at

    def sometimes(run_id: UUID) -> following.Glance:
        for error in looks:
            raise error
        return look(run_id)

    monkeypatch.setattr(following, "glance_at", sometimes)

    said = start("count", "--wait", meanwhile=(nothing, nothing, runs.drain))

    assert said.code == 0
    assert said.err.count("The database does not answer, still waiting") == 1


def test_whoever_stops_waiting_is_told_that_the_run_goes_on(start: Callable[..., Said]) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    said = start("count", "--wait", meanwhile=(interrupted,))

    assert said.code == 130
    assert f"The run goes on by itself: manage.py runs show {the_one()}" in said.err


def test_looking_costs_one_statement(django_assert_num_queries: Any) -> None:
    run_id = runs.a_run("count")

    with django_assert_num_queries(1):
        glance = following.glance_at(run_id)

    assert (glance.state, glance.step, glance.steps_total) == ("queued", "count", 2)
