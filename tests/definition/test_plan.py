"""The plan as data: what changes a fingerprint, what changes the hash, and what changes neither."""

from datetime import timedelta
from types import FunctionType
from typing import Any

import pytest

from runs.definition import (
    Approval,
    Contract,
    Effect,
    Heartbeat,
    Probe,
    Retry,
    Waived,
    Workflow,
    registry,
    step,
)
from runs.definition.workflow import WorkflowType
from runs.rules.plan import BrokenWorkflow, Plan, plan_hash, plan_of
from tests.definition.builders import PROMISE, a_harmless_effect, an_effect, answers

pytestmark = pytest.mark.one_database

STEPS: dict[str, dict[str, Any]] = {
    "propose": {"reads": ["inbox", "limit"], "writes": ["deletions"]},
    "purge": {
        "reads": ["deletions"],
        "writes": ["purged", "gone"],
        "effects": [an_effect(), a_harmless_effect()],
        "approval": Approval(of="deletions", groups=["approvers"]),
    },
    "report": {"reads": ["purged"], "writes": ["summary"]},
}


def triage(**changed: dict[str, Any]) -> type[Workflow]:
    """The same workflow, with the named steps declared otherwise."""

    def body(self: Any, run: Any) -> None: ...

    methods = {}
    for key, declared in STEPS.items():
        function = FunctionType(body.__code__, body.__globals__, key)
        function.__qualname__ = key
        methods[key] = step(**{**declared, **changed.get(key, {})})(function)
    attributes = {"name": "triage", "version": 1, "Input": TriageInput, **methods}
    with registry.isolated():
        made: Any = WorkflowType("Triage", (Workflow,), attributes)
    workflow: type[Workflow] = made
    return workflow


class TriageInput:
    inbox: str
    limit: int = 10


def fingerprints(workflow: type[Workflow]) -> dict[str, str]:
    return {step.key: step.fingerprint for step in plan_of(workflow).steps}


CHANGES: dict[str, tuple[str, dict[str, Any]]] = {
    "another fact read": ("report", {"reads": ["purged", "gone"]}),
    "another fact written": ("report", {"writes": ["summary", "more"]}),
    "a former name": ("purge", {"was": "delete_all"}),
    "one effect less": ("purge", {"effects": [an_effect()]}),
    "another effect": ("purge", {"effects": [an_effect("mailbox.move"), a_harmless_effect()]}),
    "another promise": (
        "purge",
        {"effects": [an_effect(contract=Contract("Other.", window=None)), a_harmless_effect()]},
    ),
    "a window": (
        "purge",
        {
            "effects": [
                an_effect(contract=Contract(PROMISE.promise, window=timedelta(days=1))),
                a_harmless_effect(),
            ]
        },
    ),
    "a probe": ("purge", {"effects": [an_effect(probe=lambda k, r: None), a_harmless_effect()]}),
    "a settling time": (
        "purge",
        {
            "effects": [
                an_effect(probe=Probe(find=lambda k, r: None, settles=timedelta(seconds=5))),
                a_harmless_effect(),
            ]
        },
    ),
    "another call timeout": (
        "purge",
        {"effects": [an_effect(timeout=timedelta(seconds=31)), a_harmless_effect()]},
    ),
    "reversible after all": (
        "purge",
        {"effects": [an_effect(reversible="Undelete."), a_harmless_effect()]},
    ),
    "compensated": (
        "purge",
        {"effects": [an_effect(compensate=answers), a_harmless_effect()]},
    ),
    "other approvers": ("purge", {"approval": Approval(of="deletions", groups=["owners"])}),
    "an expiry": (
        "purge",
        {
            "approval": Approval(
                of="deletions", groups=["approvers"], expires=timedelta(days=1), on_expiry="cancel"
            )
        },
    ),
    "a waiver": ("purge", {"approval": Waived("Everything is in the backup.")}),
    "another retry": ("report", {"retry": Retry(attempts=4)}),
    "giving up": ("report", {"retry": Retry(give_up_on=(ValueError,))}),
    "a timeout": ("report", {"timeout": timedelta(minutes=3)}),
    "one transaction": ("report", {"transactional": True}),
    "another way out": ("report", {"on_exhausted": "stop"}),
    "that it may be skipped": ("report", {"may_skip": True}),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_declaration_changes_its_own_fingerprint_and_the_plan_hash(change: str) -> None:
    key, declared = CHANGES[change]

    before, after = triage(), triage(**{key: declared})

    changed = {key for key in STEPS if fingerprints(before)[key] != fingerprints(after)[key]}
    assert changed == {key}
    assert plan_hash(before) != plan_hash(after)


@pytest.mark.parametrize(
    ("key", "declared"),
    [
        ("propose", {"files": "Written aside, and renamed whole."}),
        ("propose", {"reads": ["limit", "inbox"]}),
        ("purge", {"writes": ("gone", "purged")}),
        ("purge", {"effects": [a_harmless_effect(), an_effect()]}),
        (
            "purge",
            {"effects": [an_effect(send=lambda r, *, key, timeout: {}), a_harmless_effect()]},
        ),
        ("report", {"retry": Retry(attempts=3, factor=2)}),
    ],
)
def test_order_and_code_change_nothing(key: str, declared: dict[str, Any]) -> None:
    before, after = triage(), triage(**{key: declared})

    assert fingerprints(before) == fingerprints(after)
    assert plan_hash(before) == plan_hash(after)


def test_bodies_comments_and_documentation_are_no_part_of_the_hash() -> None:
    def bare() -> type[Workflow]:
        class Count(Workflow):
            name, version = "count", 1

            @step(writes=["n"])
            def count(self, run: Any) -> None:
                run.write("n", 1)

        return Count

    def explained() -> type[Workflow]:
        class Count(Workflow):
            """Counts."""

            name, version = "count", 1
            deadline = timedelta(hours=1)

            # It counts.
            @step(writes=["n"])
            def count(self, run: Any) -> None:
                """Counts."""
                run.write("n", 2)

        return Count

    with registry.isolated():
        before = plan_of(bare())
    with registry.isolated():
        after = plan_of(explained())

    assert before.hash == after.hash
    assert before.steps[0].code_digest != after.steps[0].code_digest


def test_r4_a_renamed_step_keeps_its_fingerprint_and_key_scope() -> None:
    class Old(Workflow):
        name, version = "renaming", 1

        @step(writes=["n"])
        def purge(self, run: Any) -> None: ...

    class New(Workflow):
        name, version = "renaming", 2

        @step(writes=["n"], was="purge")
        def remove(self, run: Any) -> None: ...

    old, new = plan_of(Old).steps[0], plan_of(New).steps[0]

    assert (old.scope, old.fingerprint) == (new.scope, new.fingerprint)
    assert plan_hash(Old) != plan_hash(New)


def test_another_field_of_input_changes_the_hash_but_no_step() -> None:
    class More(TriageInput):
        dry: bool = False

    before, after = triage(), triage()
    after.Input = More

    assert fingerprints(before) == fingerprints(after)
    assert plan_hash(before) != plan_hash(after)


def test_a_plan_can_be_read_without_the_code_that_made_it() -> None:
    class Whole(Workflow):
        """Does it all."""

        name, version = "whole", 3
        deadline = timedelta(hours=12)
        heartbeat = Heartbeat(every=timedelta(seconds=30), grace=timedelta(minutes=2))
        Input = TriageInput

        @step(reads=["inbox", "limit"], writes=["deletions"])
        def propose(self, run: Any) -> None:
            """Says what to delete."""

        @step(
            reads=["deletions"],
            effects=[an_effect(probe=lambda k, r: None)],
            approval=Approval(of="deletions", groups=["approvers"]),
            retry=Retry(give_up_on=(LookupError,)),
            timeout=timedelta(minutes=5),
        )
        def purge(self, run: Any) -> None: ...

    plan = plan_of(Whole)

    assert Plan.from_text(plan.to_text()) == plan
    assert plan.step("purge").effects[0].irreversible
    assert plan.step("purge").retry.give_up_on == ("builtins.LookupError",)
    assert plan.step("propose").doc == "Says what to delete."
    assert plan.step("propose").file == "tests/definition/test_plan.py"
    assert [step.ordinal for step in plan.steps] == [1, 2]


def test_a_step_that_reads_nothing_and_changes_something_is_marked() -> None:
    class Shouting(Workflow):
        name, version = "shouting", 1

        @step(effects=[a_harmless_effect()])
        def shout(self, run: Any) -> None: ...

        @step(writes=["heard"])
        def listen(self, run: Any) -> None: ...

    assert [step.side_effect for step in plan_of(Shouting).steps] == [True, False]


def test_a_workflow_with_errors_has_no_plan() -> None:
    class Broken(Workflow):
        name, version = "broken", 1

        @step(reads=["nothing_writes_this"], writes=["x"])
        def start(self, run: Any) -> None: ...

    with pytest.raises(BrokenWorkflow) as refused:
        plan_of(Broken)

    assert "'broken' version 1 cannot run" in str(refused.value)
    assert "test_plan.py:" in str(refused.value)
    assert "Broken.start reads 'nothing_writes_this'" in str(refused.value)


def test_the_hash_of_a_known_plan_never_changes() -> None:
    """Runs of earlier releases are stamped with it: a change here strands them all."""
    pay = Effect(
        "bank.pay",
        send=answers,
        contract=Contract("Same key, same payment.", window=timedelta(days=1)),
    )

    class Payday(Workflow):
        name, version = "payday", 1

        class Input:
            month: str

        @step(reads=["month"], writes=["payments"])
        def plan_payments(self, run: Any) -> None: ...

        @step(
            reads=["payments"],
            effects=[pay],
            approval=Approval(of="payments", groups=["board"]),
            timeout=timedelta(hours=1),
        )
        def pay_all(self, run: Any) -> None: ...

    assert plan_hash(Payday) == ("b6848fc447b79f0c30951914c01d217eb50a2c6757019c2124c4f919bf8b10b7")
