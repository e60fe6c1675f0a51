"""Workflows that do what they are told: programs of pages, calls, waits and questions, made up by chance."""

import contextlib
import json
import socket
import subprocess
import tempfile
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from runs.definition import Contract, Effect, Retry, Run, Workflow, step
from runs.examples import ledger, queries
from runs.examples.ten_steps import Parity

EVENT = "program.event"
BRIEF = Retry(attempts=8, base=timedelta(milliseconds=30), maximum=timedelta(milliseconds=200))
PARTS = ("first", "second", "third")


def nowhere(request: dict[str, Any], /, *, key: str, timeout: float) -> dict[str, Any]:
    raise AssertionError("a drill never sends to the real receiver")


def nothing(key: str, request: dict[str, Any], /) -> dict[str, Any] | None:
    raise AssertionError("a drill never asks the real receiver")


SHORT = timedelta(seconds=1)
EFFECTS = {
    "contract": Effect(
        "program.contract",
        send=nowhere,
        contract=Contract("The same key twice is one effect.", window=None),
        timeout=SHORT,
        reversible="It is a number.",
        cost=1,
    ),
    "probe": Effect(
        "program.probe", send=nowhere, probe=nothing, timeout=SHORT, reversible="It is a number."
    ),
    "grave": Effect(
        "program.grave",
        send=nowhere,
        contract=Contract("The same key twice is one effect.", window=None),
        timeout=SHORT,
    ),
    "neither": Effect("program.neither", send=nowhere, timeout=SHORT, reversible="It is a number."),
}
ALL = tuple(EFFECTS.values())


class Program(Workflow):
    """Three steps, each of which does what its part of the program says."""

    name, version = "drill_program", 1

    class Input:
        program: str

    @step(reads=["program"], writes=["first_said"], effects=ALL, retry=BRIEF)
    def first(self, run: Run) -> None:
        run.write("first_said", said_by(run, 0))

    @step(reads=["program"], writes=["second_said"], effects=ALL, retry=BRIEF)
    def second(self, run: Run) -> None:
        run.write("second_said", said_by(run, 1))

    @step(reads=["program"], writes=["third_said"], effects=ALL, retry=BRIEF)
    def third(self, run: Run) -> None:
        run.write("third_said", said_by(run, 2))


def said_by(run: Run, part: int) -> list[Any]:
    """What each instruction of this part came to, in their order."""
    instructions = json.loads(run.read("program"))[part]
    return [DOES[each["do"]](run, f"{part}.{n}", each) for n, each in enumerate(instructions)]


def _pages(run: Run, name: str, told: dict[str, Any]) -> Any:
    for page in run.pages(range(1, told["count"] + 1), size=told["size"]):
        if told["calling"]:
            run.call(
                EFFECTS["contract"], resource=f"{name}-{page.end.ordinal}", request={"of": name}
            )
        with run.checkpoint(cursor=page.end):
            ledger.keep_entries(run.id, step=run.step, attempt=run.attempt, values=page)
    return queries.sum_of_entries(run.id, step=run.step)


def _call(run: Run, name: str, told: dict[str, Any]) -> Any:
    request = {"resource": name, "amount": told["amount"]}
    return run.call(EFFECTS[told["effect"]], resource=name, request=request)["id"]


def _ask(run: Run, name: str, _: dict[str, Any]) -> Any:
    return run.ask(name, question="Shall it go on?")["option"]


def _wait(run: Run, name: str, _: dict[str, Any]) -> Any:
    return run.wait_for(EVENT, correlation_id=f"{run.id} {name}")


def _sleep(run: Run, name: str, _: dict[str, Any]) -> Any:
    run.sleep(name, timedelta(milliseconds=20))
    return "slept"


def _judge(run: Run, name: str, told: dict[str, Any]) -> Any:
    return run.judge("Is it even?", told["number"], by=Parity()).value


def _keep(run: Run, name: str, told: dict[str, Any]) -> Any:
    return run.artifact(f"{name}.txt", b"x" * told["size"], "text/plain")["digest"]


DOES = {
    "pages": _pages,
    "call": _call,
    "ask": _ask,
    "wait": _wait,
    "sleep": _sleep,
    "judge": _judge,
    "keep": _keep,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A program and the seed of what strikes it."""

    text: str
    seed: int


def _instruction() -> st.SearchStrategy[dict[str, Any]]:
    return st.one_of(
        st.fixed_dictionaries(
            {
                "do": st.just("call"),
                "effect": st.sampled_from(sorted(EFFECTS)),
                "amount": st.integers(1, 9),
            }
        ),
        st.fixed_dictionaries({"do": st.sampled_from(["ask", "wait", "sleep"])}),
        st.fixed_dictionaries({"do": st.just("judge"), "number": st.integers(1, 9)}),
        st.fixed_dictionaries({"do": st.just("keep"), "size": st.integers(1, 2000)}),
    )


def _pages_first() -> st.SearchStrategy[list[dict[str, Any]]]:
    """A step has one cursor, so it pages once."""
    pages = st.fixed_dictionaries(
        {
            "do": st.just("pages"),
            "count": st.integers(1, 9),
            "size": st.integers(1, 4),
            "calling": st.booleans(),
        }
    )
    return st.lists(pages, max_size=1)


def texts() -> st.SearchStrategy[str]:
    part = st.builds(lambda a, b: a + b, _pages_first(), st.lists(_instruction(), max_size=3))
    return st.lists(part, min_size=3, max_size=3).map(json.dumps)


class Curious(Workflow):
    """Does what it has not declared, and keeps an artifact, which it may."""

    name, version = "drill_curious", 1

    @step(writes=["pried"])
    def pry(self, run: Run) -> None:
        with tempfile.NamedTemporaryFile("w", delete=False) as file:
            file.write("x")
        Path(file.name).unlink()
        subprocess.run(["true"], check=True)
        with contextlib.suppress(OSError), socket.socket() as line:
            line.connect(("127.0.0.1", 9))
        run.write("pried", True)

    @step(writes=["kept"])
    def keep(self, run: Run) -> None:
        run.write("kept", run.artifact("kept.txt", b"x" * 10, "text/plain"))


class Fickle(Workflow):
    """Calls with another request each time it is entered."""

    name, version = "drill_fickle", 1

    @step(writes=["changed"], effects=[EFFECTS["contract"]], retry=BRIEF)
    def change(self, run: Run) -> None:
        request = {"attempt": run.attempt}
        run.write("changed", run.call(EFFECTS["contract"], resource="it", request=request)["id"])
