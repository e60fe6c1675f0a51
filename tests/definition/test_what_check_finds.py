"""Mistakes in declarations: each is found without running anything, at its line, with what to write."""

from datetime import timedelta
from typing import Any

import pytest

from runs.definition import (
    Approval,
    DeclarationError,
    Heartbeat,
    Workflow,
    step,
)
from runs.rules.declarations import problems
from tests.definition.builders import (
    a_harmless_effect,
    an_effect,
    answers,
    ids,
    source_line,
    the_problem,
)

pytestmark = pytest.mark.one_database

delete = an_effect()
report = a_harmless_effect()


def test_a_sound_workflow_has_no_problems() -> None:
    class Sound(Workflow):
        """Sort, ask, delete, report."""

        name, version = "sound", 1
        deadline = timedelta(hours=12)
        heartbeat = Heartbeat(
            every=timedelta(seconds=30), grace=timedelta(minutes=2), progress=timedelta(minutes=10)
        )

        class Input:
            inbox: str

        @step(reads=["inbox"], writes=["deletions"])
        def propose(self, run: Any) -> None:
            for message in run.read("inbox"):
                run.plan("deletions", delete, resource=message, request={})

        @step(
            reads=["deletions"],
            writes=["purged"],
            effects=[delete],
            approval=Approval(
                of="deletions", groups=["approvers"], expires=timedelta(days=3), on_expiry="cancel"
            ),
            timeout=timedelta(minutes=30),
        )
        def purge(self, run: Any) -> None:
            run.write("purged", run.apply("deletions"))

        @step(reads=["purged"], effects=[report])
        def tell(self, run: Any) -> None:
            run.call(report, resource="all", request={"n": run.read("purged")})

    assert problems(Sound) == []


def test_a_workflow_without_steps() -> None:
    class Empty(Workflow):
        name, version = "empty", 1

    problem = the_problem(Empty, "E002")

    assert problem.message == "Empty has no steps."
    assert source_line(problem) == "class Empty(Workflow):"


def test_two_steps_of_one_name() -> None:
    class Twice(Workflow):
        name, version = "twice", 1

        @step(writes=["a"])
        def load(self, run: Any) -> None: ...

        @step(writes=["b"])  # type: ignore[no-redef]
        def load(self, run: Any) -> None: ...  # noqa: F811

    problem = the_problem(Twice, "E003")

    assert "Twice defines 'load' twice" in problem.message
    assert source_line(problem) == '@step(writes=["b"])  # type: ignore[no-redef]'


def test_a_step_hidden_by_an_ordinary_method_of_its_name() -> None:
    class Hidden(Workflow):
        name, version = "hidden", 1

        @step(writes=["a"])
        def load(self, run: Any) -> None: ...

        def load(self) -> None: ...  # type: ignore[no-redef]  # noqa: F811

    assert "E003" in ids(Hidden)


@pytest.mark.parametrize("said", ["Inbox", "in-box", "2nd", "", "a b", "x" * 64, "naïve"])
def test_a_name_that_is_none(said: str) -> None:
    class Misnamed(Workflow):
        name, version = "misnamed", 1

        @step(writes=["good"])
        def start(self, run: Any) -> None: ...

        @step(reads=["good"], writes=[said])
        def go(self, run: Any) -> None: ...

    Misnamed.name = said

    assert ids(Misnamed).count("E004") == 2


def test_a_workflow_without_a_name_or_number_is_refused_at_once() -> None:
    with pytest.raises(DeclarationError, match="Workflow class Nameless has no name"):

        class Nameless(Workflow):
            version = 1

    with pytest.raises(DeclarationError, match="'unnumbered' has the version None"):

        class Unnumbered(Workflow):
            name = "unnumbered"


def test_a_step_that_is_decoration() -> None:
    class Decorated(Workflow):
        name, version = "decorated", 1

        @step()
        def think(self, run: Any) -> None: ...

    problem = the_problem(Decorated, "E005")

    assert problem.message == (
        "Decorated.think is decoration: it declares neither reads, writes nor effects."
    )
    assert source_line(problem) == "@step()"


def test_a_fact_that_no_earlier_step_writes() -> None:
    class Early(Workflow):
        name, version = "early", 1

        @step(reads=["manifesto"], writes=["x"])
        def first(self, run: Any) -> None:
            run.write("x", run.read("manifesto"))

        @step(reads=["x"], writes=["manifest"])
        def second(self, run: Any) -> None:
            run.write("manifest", run.read("x"))

        @step(reads=["manifesto"])
        def third(self, run: Any) -> None:
            run.read("manifesto")

    first, third = (problem for problem in problems(Early) if problem.id == "runs.E006")

    assert first.message == (
        "Early.first reads 'manifesto', which no earlier step writes and Input does not hold."
    )
    assert "Known here: nothing." in first.hint
    assert "Did you mean 'manifest'?" in third.hint


def test_a_fact_written_twice_or_over_an_input() -> None:
    class Overwriting(Workflow):
        name, version = "overwriting", 1

        class Input:
            inbox: str

        @step(reads=["inbox"], writes=["inbox", "count"])
        def first(self, run: Any) -> None: ...

        @step(writes=["count"])
        def second(self, run: Any) -> None: ...

    over_input, over_fact = (item for item in problems(Overwriting) if item.id == "runs.E007")

    assert "Overwriting.Input already gives" in over_input.message
    assert "Overwriting.first already gives" in over_fact.message


def test_a_step_named_like_something_every_workflow_has() -> None:
    class Taking(Workflow):
        name, version = "taking", 1

        @step(writes=["a"])
        def deadline(self, run: Any) -> None: ...  # type: ignore[override]

    assert "E010" in ids(Taking)


def test_r26_a_step_may_not_outlast_the_queue() -> None:
    class Long(Workflow):
        name, version = "long", 1

        @step(writes=["x"], timeout=timedelta(days=1))
        def work(self, run: Any) -> None: ...

    assert "E015" in ids(Long, longest_step=timedelta(days=1))
    assert "E015" not in ids(Long, longest_step=timedelta(days=1, seconds=1))


@pytest.mark.parametrize("length", [timedelta(0), timedelta(seconds=-1)])
def test_a_length_of_time_that_is_none(length: timedelta) -> None:
    class Timeless(Workflow):
        name, version = "timeless", 1
        deadline = length

        @step(writes=["x"], timeout=length)
        def work(self, run: Any) -> None: ...

    assert {"E015", "E016"} <= set(ids(Timeless))


def test_a_deadline_below_what_the_run_may_take() -> None:
    class Hasty(Workflow):
        name, version = "hasty", 1
        deadline = timedelta(minutes=5)
        heartbeat = Heartbeat(
            every=timedelta(seconds=30), grace=timedelta(minutes=1), progress=timedelta(minutes=5)
        )

        @step(writes=["x"], timeout=timedelta(minutes=6))
        def work(self, run: Any) -> None: ...

    assert ids(Hasty).count("W007") == 2


def test_a_heartbeat_that_is_none() -> None:
    class Beating(Workflow):
        name, version = "beating", 1
        heartbeat = timedelta(seconds=30)  # type: ignore[assignment]

        @step(writes=["x"])
        def work(self, run: Any) -> None: ...

    assert "E017" in ids(Beating)


@pytest.mark.parametrize(
    ("annotations", "default", "said"),
    [
        ({"x": set[str]}, None, "x has the type set, which JSON cannot give"),
        ({"x": "Missing"}, None, "an annotation cannot be read"),
        ({"x": int}, "three", "the default of x does not fit its type: expected whole number"),
        ({}, "three", "x has no type"),
    ],
)
def test_an_input_that_nothing_can_fit(annotations: Any, default: Any, said: str) -> None:
    made = {"__annotations__": annotations, "__module__": __name__}

    class Unfit(Workflow):
        name, version = "unfit", 1
        Input = type("Input", (), made if default is None else {**made, "x": default})

        @step(reads=["x"], writes=["y"])
        def work(self, run: Any) -> None: ...

    assert said in the_problem(Unfit, "E018").message


def test_r4_two_steps_that_make_their_keys_from_one_name() -> None:
    class Colliding(Workflow):
        name, version = "colliding", 1

        @step(writes=["x"], was="purge")
        def remove(self, run: Any) -> None: ...

        @step(writes=["y"])
        def purge(self, run: Any) -> None: ...

        @step(writes=["z"], was="purge")
        def clear(self, run: Any) -> None: ...

    found = [item.message for item in problems(Colliding) if item.id == "runs.E020"]

    assert found == [
        "Colliding.remove and Colliding.purge both make their keys from 'purge'.",
        "Colliding.clear and Colliding.purge both make their keys from 'purge'.",
    ]


def test_every_problem_has_a_place_and_says_what_to_do() -> None:
    class Everything(Workflow):
        name, version = "Everything", 1

        class Input:
            unread: str

        @step(was="b")
        def a(self) -> None: ...

        @step(reads=["z"], writes=["unread"], effects=[an_effect(contract=None, send=answers)])
        def b(self, run: Any) -> Any:
            return run.read("y")

    found = problems(Everything)

    assert len(found) > 8
    for problem in found:
        assert problem.file == __file__ or problem.file.endswith("builders.py")
        assert problem.line > 0
        assert problem.message.endswith(".")
        assert problem.hint
        assert source_line(problem)


def test_an_input_that_nobody_reads() -> None:
    class Curious(Workflow):
        name, version = "curious", 1

        class Input:
            inbox: str

        @step(writes=["x"])
        def work(self, run: Any) -> None: ...

    problem = the_problem(Curious, "W008")

    assert source_line(problem) == "class Input:"


def test_a_step_that_may_be_skipped_writes_nothing_that_a_later_one_reads() -> None:
    class Skips(Workflow):
        name, version = "skips", 1

        @step(writes=["found"], may_skip=True)
        def look(self, run: Any) -> None:
            run.write("found", 1)

        @step(reads=["found"], writes=["told"])
        def tell(self, run: Any) -> None:
            run.write("told", run.read("found"))

    found = the_problem(Skips, "E030")

    assert "may be skipped, and a later step reads found" in found.message
