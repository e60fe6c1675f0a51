"""Builders that speak of effects and problems."""

import inspect
from collections.abc import Callable
from typing import Any

from runs.definition import Contract, Effect, Workflow
from runs.rules.declarations import problems
from runs.rules.problem import Problem

PROMISE = Contract("The same key is answered, not done again.", window=None)


def answers(request: dict[str, Any], *, key: str, timeout: float) -> dict[str, Any]:
    return {"id": key}


def an_effect(name: str = "mailbox.delete", **declared: Any) -> Effect:
    return Effect(name, **{"send": answers, "contract": PROMISE, **declared})


def a_harmless_effect(name: str = "smtp.send", **declared: Any) -> Effect:
    return an_effect(name, **{"reversible": "A second one does no harm.", **declared})


def ids(workflow: type[Workflow], **limits: Any) -> list[str]:
    return [problem.id.removeprefix("runs.") for problem in problems(workflow, **limits)]


def the_problem(workflow: type[Workflow], id: str, **limits: Any) -> Problem:  # noqa: A002
    found = [problem for problem in problems(workflow, **limits) if problem.id == f"runs.{id}"]
    assert len(found) == 1, [problem.message for problem in problems(workflow, **limits)]
    return found[0]


def source_line(problem: Problem) -> str:
    """The line that a problem points at."""
    with open(problem.file, encoding="utf-8") as file:  # noqa: PTH123
        return file.read().splitlines()[problem.line - 1].strip()


def line_of(function: Callable[..., Any], text: str) -> int:
    lines, first = inspect.getsourcelines(function)
    return first + next(at for at, line in enumerate(lines) if text in line)
