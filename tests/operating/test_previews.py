"""The dry run of each posture, from a plan and a past alone."""

import pytest

from runs.definition import registry
from runs.rules.plan import Plan, plan_of
from runs.rules.preview import Choice, Past, PastCall, PastStep, preview
from tests.operating.redone import World, made


@pytest.fixture(scope="module")
def plan() -> Plan:
    """Count, sell (reversibly), hear, conclude."""
    with registry.isolated():
        return plan_of(made(World())[0])


def a_call(state: str, **more: object) -> PastCall:
    said = {"step": "sell", "scope": "sell", "effect": "shop.sell", "unsent": False, "key": "k"}
    return PastCall(state=state, **{**said, **more})  # type: ignore[arg-type]


def a_past(*calls: PastCall) -> Past:
    steps = [
        PastStep(key="count", state="succeeded", generation=1),
        PastStep(key="sell", state="succeeded", generation=1),
        PastStep(key="hear", state="waiting", generation=1),
    ]
    return Past(steps=steps, groups=calls, calls=calls, judgements={"count": 6})


def test_a_resume_keeps_what_is_done_and_the_keys(plan: Plan) -> None:
    seen = preview(plan, a_past(a_call("confirmed")), Choice(posture="resume", first=3))

    assert [step.fate for step in seen.steps] == ["kept", "kept", "redone", "never reached"]
    assert (seen.keys_same, seen.keys_new, seen.repeated_total) == (1, 0, 0)
    assert seen.calls[0].then == "kept with its step"


def test_a_replay_redoes_under_the_same_keys_and_repeats_nothing(plan: Plan) -> None:
    choice = Choice(posture="replay", first=2, generation=2)
    seen = preview(plan, a_past(a_call("confirmed")), choice)

    assert [step.fate for step in seen.steps] == ["kept", "redone", "redone", "never reached"]
    assert (seen.calls[0].fate, seen.repeated_total) == ("same", 0)
    assert seen.calls[0].then == "not sent again; the known answer is reused"


@pytest.mark.parametrize(
    ("call", "then"),
    [
        (a_call("ambiguous"), "a person is asked whether it happened"),
        (a_call("refused"), "not sent again unless a person reopens it"),
        (a_call("intended", unsent=True), "sent; it never left before"),
    ],
)
def test_what_a_replay_makes_of_a_call_depends_on_what_is_known(
    plan: Plan, call: PastCall, then: str
) -> None:
    seen = preview(plan, a_past(call), Choice(posture="replay", first=2, generation=2))

    assert seen.calls[0].then == then
    assert (seen.steps[1].fate == "asked") == (call.state != "intended")


def test_a_restart_makes_new_keys_and_lists_what_would_happen_twice(plan: Plan) -> None:
    calls = [a_call("confirmed"), a_call("ambiguous", irreversible=True), a_call("refused")]
    seen = preview(plan, a_past(*calls), Choice(posture="restart", first=1))

    assert (seen.keys_same, seen.keys_new) == (0, 3)
    assert (seen.repeated_total, seen.irreversible_total, seen.asks_first) == (2, 1, True)
    assert [one.reversibility for one in seen.repeated] == [
        "reversible: A second one does no harm.",
        "cannot be undone",
    ]
    assert seen.calls[2].then == "sent under a new key; it has not happened before"


def test_a_restart_behind_a_checkpoint_repeats_only_what_comes_after_it(plan: Plan) -> None:
    seen = preview(plan, a_past(a_call("confirmed")), Choice(posture="restart", first=3))

    assert [step.fate for step in seen.steps][:2] == ["kept", "kept"]
    assert (seen.repeated_total, seen.keys_same, seen.keys_new) == (0, 1, 0)


def test_what_was_done_by_the_runs_before_counts_as_well(plan: Plan) -> None:
    """R5"""
    past = Past(steps=[], relatives=[a_call("abandoned", irreversible=True, run="another")])
    seen = preview(plan, past, Choice(posture="restart", first=1))

    assert (seen.irreversible_total, seen.repeated[0].run) == (1, "another")


@pytest.mark.parametrize(("forget", "kept"), [(False, (6, 0)), (True, (0, 6))])
def test_judgements_are_kept_or_forgotten_as_chosen(
    plan: Plan, forget: bool, kept: tuple[int, int]
) -> None:
    """R12"""
    choice = Choice(posture="replay", first=1, generation=2, forget_judgements=forget)
    seen = preview(plan, a_past(), choice)

    assert (seen.judgements_kept, seen.judgements_forgotten) == kept
