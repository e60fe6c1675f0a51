"""Who has to agree is declared with the approval, part of the plan, and checked."""

from typing import Any

import pytest

from runs.definition import Approval, DeclarationError, Workflow, registry, step
from runs.rules.declarations import problems
from runs.rules.plan import Plan, plan_of
from tests.definition.builders import a_harmless_effect, an_effect

pytestmark = pytest.mark.one_database


def declared(approval: Approval, *, harmless: bool = False) -> type[Workflow]:
    effect = a_harmless_effect() if harmless else an_effect()
    with registry.isolated():

        class Agreed(Workflow):
            """Plans and applies."""

            name, version = "agreed", 1

            @step(writes=["list"])
            def propose(self, run: Any) -> None: ...

            @step(reads=["list"], effects=[effect], approval=approval)
            def settle(self, run: Any) -> None: ...

    return Agreed


def ids(workflow: type[Workflow]) -> list[str]:
    return [found.id for found in problems(workflow)]


@pytest.mark.parametrize(
    "said",
    [
        {"quorum": 0},
        {"quorum": 21},
        {"quorum": True},
        {"quorum": "2"},
        {"all_of": "legal"},
        {"all_of": ["legal", "legal"]},
        {"four_eyes": "yes"},
        {"comment": 1},
    ],
)
def test_what_makes_no_sense_is_refused_where_it_is_declared(said: dict[str, Any]) -> None:
    with pytest.raises(DeclarationError, match="Approval"):
        Approval(of="list", **said)


def test_what_is_left_out_changes_no_fingerprint() -> None:
    """Plans that were stored before keep their hash."""
    plain = plan_of(declared(Approval(of="list", groups=["approvers"])))
    said = Approval(of="list", groups=["approvers"], quorum=1, all_of=[], four_eyes=None)

    assert plan_of(declared(said)).hash == plain.hash
    assert "quorum" not in plain.steps[1].fingerprint


@pytest.mark.parametrize(
    "said", [{"quorum": 2}, {"all_of": ["legal"]}, {"four_eyes": True}, {"comment": True}]
)
def test_what_is_said_is_part_of_the_plan_and_read_back(said: dict[str, Any]) -> None:
    plain = plan_of(declared(Approval(of="list", groups=["approvers"])))
    plan = plan_of(declared(Approval(of="list", groups=["approvers"], **said)))

    assert plan.hash != plain.hash
    again = Plan.from_text(plan.to_text()).step("settle").approval
    assert again == plan.step("settle").approval
    assert again is not None
    for name, value in said.items():
        assert getattr(again, name) == (tuple(value) if isinstance(value, list) else value)


def test_a_quorum_below_its_groups_is_an_error() -> None:
    two_of_three = Approval(of="list", quorum=2, all_of=["a", "b", "c"])

    assert "runs.E031" in ids(declared(two_of_three))
    assert "runs.E031" not in ids(declared(Approval(of="list", all_of=["a", "b"])))


def test_letting_the_requester_approve_what_cannot_be_undone_is_a_warning() -> None:
    waived = Approval(of="list", groups=["approvers"], four_eyes=False)

    assert "runs.W012" in ids(declared(waived))
    assert "runs.W012" not in ids(declared(waived, harmless=True))
