"""`runs.testing`: an author's workflow, run by the real engine inside a test."""

from typing import Any

import pytest

from runs.definition import Workflow, step
from runs.testing import run_workflow
from tests.definition.builders import a_harmless_effect

pytestmark = pytest.mark.django_db(transaction=True)

report = a_harmless_effect()


def test_a_workflow_runs_to_its_end_and_shows_what_came_of_it() -> None:
    class Doubling(Workflow):
        name, version = "doubling", 1

        class Input:
            n: int

        @step(reads=["n"], writes=["twice"])
        def double(self, run: Any) -> None:
            run.write("twice", 2 * run.read("n"))

        @step(reads=["twice"], effects=[report])
        def tell(self, run: Any) -> None:
            run.call(report, resource="all", request={"n": run.read("twice")})

    outcome = run_workflow(Doubling, n=21)

    assert (outcome.state, outcome.facts) == ("succeeded", {"twice": 42})
    assert [(step["key"], step["state"]) for step in outcome.steps] == [
        ("double", "succeeded"),
        ("tell", "succeeded"),
    ]
    assert [(call["effect"], call["state"]) for call in outcome.calls] == [
        ("smtp.send", "confirmed")
    ]


def test_a_workflow_that_asks_is_shown_waiting() -> None:
    class Asking(Workflow):
        name, version = "asking", 1

        @step(writes=["answer"])
        def ask(self, run: Any) -> None:
            run.write("answer", run.ask("go on", question="Go on?")["option"])

    assert run_workflow(Asking).state == "waiting"
