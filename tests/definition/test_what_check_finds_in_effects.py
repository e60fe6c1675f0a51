"""Mistakes about effects: what cannot be undone, what nobody approved, what nobody could answer."""

from datetime import timedelta
from typing import Any

import pytest

from runs.definition import (
    Approval,
    Contract,
    Probe,
    Waived,
    Workflow,
    step,
)
from runs.rules.declarations import problems
from tests.definition.builders import (
    a_harmless_effect,
    an_effect,
    ids,
    source_line,
    the_problem,
)

pytestmark = pytest.mark.one_database

delete = an_effect()
report = a_harmless_effect()


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


def test_r10_a_transactional_step_has_no_effects() -> None:
    class Leaking(Workflow):
        name, version = "leaking", 1

        @step(effects=[report], transactional=True)
        def leak(self, run: Any) -> None: ...

    assert "E014" in ids(Leaking)


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
