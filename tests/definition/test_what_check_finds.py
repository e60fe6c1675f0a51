"""Mistakes in declarations: each is found without running anything, at its line, with what to write."""

from datetime import timedelta
from typing import Any

import pytest

from runs.definition import (
    Approval,
    Contract,
    DeclarationError,
    Heartbeat,
    Probe,
    Waived,
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


def test_an_approval_of_what_nobody_plans() -> None:
    class Approving(Workflow):
        name, version = "approving", 1

        @step(writes=["deletions"])
        def propose(self, run: Any) -> None:
            run.plan("deletions", delete, resource="1", request={})

        @step(
            reads=["deletions"],
            effects=[delete],
            approval=Approval(of="deletion", groups=["approvers"]),
        )
        def purge(self, run: Any) -> None:
            run.apply("deletions")

    problem = the_problem(Approving, "E008")

    assert "asks approval of 'deletion', which no earlier step plans" in problem.message
    assert "Did you mean 'deletions'?" in problem.hint


def test_an_approval_of_a_plain_fact() -> None:
    class Approving(Workflow):
        name, version = "approving", 1

        @step(writes=["deletions"])
        def propose(self, run: Any) -> None:
            run.write("deletions", ["1", "2"])

        @step(
            reads=["deletions"],
            effects=[delete],
            approval=Approval(of="deletions", groups=["approvers"]),
        )
        def purge(self, run: Any) -> None:
            run.apply("deletions")

    problem = the_problem(Approving, "E008")

    assert (
        "writes 'deletions', but Approving.purge asks approval of it as a plan" in problem.message
    )
    assert source_line(problem) == 'run.write("deletions", ["1", "2"])'


def test_an_approval_that_is_not_read_or_changes_nothing() -> None:
    class Approving(Workflow):
        name, version = "approving", 1

        @step(writes=["deletions"])
        def propose(self, run: Any) -> None: ...

        @step(writes=["x"], approval=Approval(of="deletions", groups=["approvers"]))
        def purge(self, run: Any) -> None: ...

    assert ids(Approving).count("E008") == 2


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


def test_a_step_named_like_something_every_workflow_has() -> None:
    class Taking(Workflow):
        name, version = "taking", 1

        @step(writes=["a"])
        def deadline(self, run: Any) -> None: ...  # type: ignore[override]

    assert "E010" in ids(Taking)


def test_two_different_effects_of_one_name() -> None:
    class Confused(Workflow):
        name, version = "confused", 1

        @step(effects=[report])
        def first(self, run: Any) -> None:
            run.call(report, resource="1", request={})

        @step(effects=[a_harmless_effect(timeout=timedelta(seconds=1))])
        def second(self, run: Any) -> None: ...

        @step(effects=[report, report])
        def third(self, run: Any) -> None: ...

    different, twice = (item for item in problems(Confused) if item.id == "runs.E011")

    assert "uses two different effects named 'smtp.send'" in different.message + twice.message
    assert "Confused.third names the effect 'smtp.send' twice." in different.message + twice.message


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


def test_r10_a_transactional_step_has_no_effects() -> None:
    class Leaking(Workflow):
        name, version = "leaking", 1

        @step(effects=[report], transactional=True)
        def leak(self, run: Any) -> None: ...

    assert "E014" in ids(Leaking)


def test_r13_two_waits_of_one_name() -> None:
    class Asking(Workflow):
        name, version = "asking", 1

        @step(writes=["x"])
        def ask(self, run: Any) -> None:
            run.ask("sure", question="Sure?")
            run.write("x", run.ask("sure", question="Really?"))

    problem = the_problem(Asking, "W010")

    assert source_line(problem) == 'run.write("x", run.ask("sure", question="Really?"))'


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


def test_an_input_that_nobody_reads() -> None:
    class Curious(Workflow):
        name, version = "curious", 1

        class Input:
            inbox: str

        @step(writes=["x"])
        def work(self, run: Any) -> None: ...

    problem = the_problem(Curious, "W008")

    assert source_line(problem) == "class Input:"


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


def test_i7_an_irreversible_effect_without_approval_or_waiver_is_named() -> None:
    class Daring(Workflow):
        name, version = "daring", 1

        class Input:
            x: str

        @step(reads=["x"], effects=[delete, report])
        def purge(self, run: Any) -> None:
            run.call(delete, resource=run.read("x"), request={})

    problem = the_problem(Daring, "W001")

    assert problem.level == "warning"
    assert "Daring.purge may call mailbox.delete, which cannot be undone" in problem.message
    assert "each call will ask a person" in problem.message
    assert 'Waived("...")' in problem.hint


def test_i7_a_direct_call_beside_an_approved_plan_is_named() -> None:
    class Daring(Workflow):
        name, version = "daring", 1

        @step(writes=["deletions"])
        def propose(self, run: Any) -> None:
            run.plan("deletions", delete, resource="1", request={})

        @step(
            reads=["deletions"],
            effects=[delete],
            approval=Approval(of="deletions", groups=["approvers"]),
        )
        def purge(self, run: Any) -> None:
            run.apply("deletions")
            run.call(delete, resource="2", request={})

    problem = the_problem(Daring, "W001")

    assert source_line(problem) == 'run.call(delete, resource="2", request={})'


def test_a_written_waiver_is_enough_but_only_where_something_is_waived() -> None:
    class Waiving(Workflow):
        name, version = "waiving", 1

        @step(effects=[delete], approval=Waived("The bin keeps everything for a month."))
        def purge(self, run: Any) -> None:
            run.call(delete, resource="1", request={})

        @step(effects=[report], approval=Waived("Nobody minds a report."))
        def tell(self, run: Any) -> None:
            run.call(report, resource="1", request={})

    assert ids(Waiving) == ["I001", "I001", "W011"]


def test_i6_an_effect_whose_unknown_result_must_ask_a_person() -> None:
    blind = a_harmless_effect("fax.send", contract=None)

    class Blind(Workflow):
        name, version = "blind", 1

        @step(writes=["x"], effects=[blind])
        def send(self, run: Any) -> None:
            run.write("x", run.call(blind, resource="1", request={}))

    problem = the_problem(Blind, "W002")

    assert "an unknown result will ask a person" in problem.message
    assert source_line(problem).startswith("return Effect(")


@pytest.mark.parametrize(
    "answer", [{"probe": lambda key, request: None}, {"probe": Probe(find=lambda k, r: None)}]
)
def test_i6_a_probe_is_as_good_as_a_contract(answer: dict[str, Any]) -> None:
    known = a_harmless_effect("fax.send", contract=None, **answer)

    class Sighted(Workflow):
        name, version = "sighted", 1

        @step(writes=["x"], effects=[known])
        def send(self, run: Any) -> None:
            run.write("x", run.call(known, resource="1", request={}))

    assert "W002" not in ids(Sighted)


def test_approvals_that_anybody_may_give_or_that_end_in_nothing() -> None:
    class Loose(Workflow):
        name, version = "loose", 1

        @step(writes=["deletions"])
        def propose(self, run: Any) -> None:
            run.plan("deletions", delete, resource="1", request={})

        @step(
            reads=["deletions"],
            effects=[delete],
            approval=Approval(of="deletions", expires=timedelta(days=1)),
        )
        def purge(self, run: Any) -> None:
            run.apply("deletions")

    assert ids(Loose) == ["W003", "W004"]


def test_a_step_that_ends_before_one_of_its_calls_may() -> None:
    class Short(Workflow):
        name, version = "short", 1

        @step(effects=[report], timeout=timedelta(seconds=30))
        def tell(self, run: Any) -> None:
            run.call(report, resource="1", request={})

    assert "W005" in ids(Short)


def test_r9_a_contract_over_before_the_call_is() -> None:
    brief = a_harmless_effect(
        contract=Contract("Same key within ten seconds.", window=timedelta(seconds=10))
    )

    class Brief(Workflow):
        name, version = "brief", 1

        @step(effects=[brief])
        def tell(self, run: Any) -> None:
            run.call(brief, resource="1", request={})

    assert "W006" in ids(Brief)


def test_a_side_effect_is_marked() -> None:
    class Shouting(Workflow):
        name, version = "shouting", 1

        @step(effects=[report])
        def shout(self, run: Any) -> None:
            run.call(report, resource="1", request={})

    problem = the_problem(Shouting, "I001")

    assert (problem.level, source_line(problem)) == ("info", "@step(effects=[report])")
    assert "is a side effect: it reads nothing and changes something" in problem.message


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
