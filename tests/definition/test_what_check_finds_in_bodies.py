"""Mistakes in bodies: what a step does but did not declare is read from its source, at its line."""

from datetime import timedelta
from typing import Any

import pytest

from runs.definition import (
    Workflow,
    step,
)
from runs.rules.declarations import problems
from tests.definition.builders import (
    a_harmless_effect,
    an_effect,
    source_line,
    the_problem,
)

pytestmark = pytest.mark.one_database

delete = an_effect()
report = a_harmless_effect()


def test_bodies_that_the_engine_cannot_enter() -> None:
    class Shapeless(Workflow):
        name, version = "shapeless", 1

        @step(writes=["a"])
        async def wait(self, run: Any) -> None: ...

        @step(writes=["b"])
        def give(self, run: Any) -> Any:
            yield 1

        @step(writes=["c"])
        def take(self) -> None: ...

    found = {item.message for item in problems(Shapeless) if item.id == "runs.E009"}

    assert found == {
        "Shapeless.wait is async.",
        "Shapeless.give yields, so its body would never run.",
        "Shapeless.take does not take exactly (self, run).",
    }


def test_a_body_that_reads_writes_or_calls_what_its_step_did_not_declare() -> None:
    class Sneaking(Workflow):
        name, version = "sneaking", 1

        class Input:
            inbox: str

        @step(reads=["inbox"], writes=["manifest"])
        def prepare(self, run: Any) -> None:
            run.write("manifets", run.read("inbox"))
            if run.read("secret_list"):
                run.call(delete, resource="1", request={})
            run.plan("deletions", delete, resource="1", request={})

    found = [item for item in problems(Sneaking) if item.id == "runs.E012"]

    assert [source_line(item) for item in found] == [
        'run.write("manifets", run.read("inbox"))',
        'if run.read("secret_list"):',
        'run.call(delete, resource="1", request={})',
        'run.plan("deletions", delete, resource="1", request={})',
    ]
    assert "Add 'manifets' to writes=[...] of its @step. Did you mean 'manifest'?" in found[0].hint
    assert "calls the effect 'mailbox.delete' but does not declare it" in found[2].message


MANIFEST = "manifest"


def test_names_given_by_constants_and_effects_kept_on_the_class_are_seen_too() -> None:
    class Indirect(Workflow):
        name, version = "indirect", 1
        undo = an_effect("mailbox.undo", reversible="It is the undoing.")

        @step(writes=["other"])
        def prepare(self, run: Any) -> None:
            run.write(MANIFEST, 1)
            run.call(self.undo, resource="1", request={})

    found = [item.message for item in problems(Indirect) if item.id == "runs.E012"]

    assert any("run.write('manifest')" in message for message in found)
    assert any("'mailbox.undo'" in message for message in found)


def test_what_the_source_cannot_tell_is_left_to_the_engine() -> None:
    def elsewhere(run: Any) -> None: ...

    class Dynamic(Workflow):
        name, version = "dynamic", 1

        @step(writes=["a", "b"])
        def write(self, run: Any) -> None:
            for name in ("a", "b"):
                run.write(name, 1)

        @step(reads=["a"], writes=["c"])
        def hand_on(self, run: Any) -> None:
            elsewhere(run)

    assert problems(Dynamic) == []


def test_a_declared_fact_that_the_body_never_touches() -> None:
    class Forgetful(Workflow):
        name, version = "forgetful", 1

        @step(writes=["a", "b"])
        def write(self, run: Any) -> None:
            run.write("a", 1)

        @step(reads=["a"], effects=[report])
        def tell(self, run: Any) -> None:
            run.log("told")

    found = [item.message for item in problems(Forgetful) if item.id == "runs.W009"]

    assert found == [
        "Forgetful.write declares writes=['b'] but its body never does.",
        "Forgetful.tell declares reads=['a'] but its body never does.",
        "Forgetful.tell declares effects but its body makes no call.",
    ]


def test_a_fact_that_stands_for_the_authors_own_rows_need_not_be_read_by_name() -> None:
    def rows_of(run_id: Any) -> list[Any]:
        return [run_id]

    class ByRows(Workflow):
        name, version = "by_rows", 1

        @step(writes=["judgements"])
        def judge(self, run: Any) -> None:
            run.write("judgements", len(rows_of(run.id)))

        @step(reads=["judgements"], writes=["total"])
        def total(self, run: Any) -> None:
            run.write("total", len(rows_of(run.id)))

    assert problems(ByRows) == []


def test_r10_nothing_leaves_or_waits_inside_a_transaction() -> None:
    class atomic:  # noqa: N801
        def __enter__(self) -> None: ...
        def __exit__(self, *error: object) -> None: ...

    class Leaking(Workflow):
        name, version = "leaking", 1

        @step(writes=["x"], effects=[report])
        def leak(self, run: Any) -> None:
            for page in run.pages([], size=10):
                run.call(report, resource="fine", request={})
                with run.checkpoint(cursor=page.end):
                    run.call(report, resource="1", request={})
            with atomic():
                run.judge("good?", {}, by=None)
            run.write("x", run.ask("go on", question="Go on?"))

        @step(reads=["x"], writes=["y"], transactional=True)
        def wait(self, run: Any) -> None:
            run.sleep("a while", timedelta(hours=1))
            run.write("y", run.read("x"))

    found = [source_line(item) for item in problems(Leaking) if item.id == "runs.E013"]

    assert found == [
        'run.call(report, resource="1", request={})',
        'run.judge("good?", {}, by=None)',
        'run.sleep("a while", timedelta(hours=1))',
    ]


def test_r13_two_waits_of_one_name() -> None:
    class Asking(Workflow):
        name, version = "asking", 1

        @step(writes=["x"])
        def ask(self, run: Any) -> None:
            run.ask("sure", question="Sure?")
            run.write("x", run.ask("sure", question="Really?"))

    problem = the_problem(Asking, "W010")

    assert source_line(problem) == 'run.write("x", run.ask("sure", question="Really?"))'


def test_a_step_that_returns_its_result() -> None:
    class Returning(Workflow):
        name, version = "returning", 1

        @step(writes=["x"])
        def work(self, run: Any) -> Any:
            def inner() -> int:
                return 1

            if inner() == 2:
                return None
            return run.id

    problem = the_problem(Returning, "E019")

    assert source_line(problem) == "return run.id"


def test_planned_calls_that_no_later_step_may_make() -> None:
    class Planning(Workflow):
        name, version = "planning", 1

        @step(writes=["deletions"])
        def propose(self, run: Any) -> None:
            run.plan("deletions", delete, resource="1", request={})

        @step(reads=["deletions"], effects=[report])
        def purge(self, run: Any) -> None:
            run.apply("deletions")

    assert "which no later step may make" in the_problem(Planning, "E021").message
