"""How long people have is declared once, and what cannot be meant is refused where it is written."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from runs.definition import Approval, DeclarationError, Effect, Timing, Workflow, registry, step
from runs.rules.declarations import problems
from runs.rules.fingerprints import approval_facts

HOUR = timedelta(hours=1)


def test_a_timing_says_in_seconds_what_was_declared_and_nothing_else() -> None:
    timing = Timing(remind=[2 * HOUR, HOUR, HOUR], valid_for=HOUR)

    assert timing.told() == {"remind": [3600.0, 7200.0], "valid_for": 3600.0}


def test_a_plan_without_a_timing_reads_as_it_did_before_there_were_any() -> None:
    plain = approval_facts(Approval(of="x", groups=["a"]))
    timed = approval_facts(Approval(of="x", groups=["a"], timing=Timing(not_before=HOUR)))

    assert plain is not None
    assert "timing" not in plain
    assert timed == plain | {"timing": {"not_before": 3600.0}}


@pytest.mark.parametrize(
    ("declare", "says"),
    [
        (lambda: Timing(remind=[HOUR * 0]), "remind"),
        (lambda: Timing(remind="daily"), "remind"),  # type: ignore[arg-type]
        (lambda: Timing(remind=[HOUR] * 11), "at most 10"),
        (lambda: Timing(escalate=HOUR), "Give both or neither"),
        (lambda: Timing(escalate_to=["managers"]), "Give both or neither"),
        (lambda: Timing(not_before=-HOUR), "not_before"),
        (lambda: Timing(valid_for=3), "valid_for"),  # type: ignore[arg-type]
        (lambda: Approval(of="x", timing=HOUR), "timing=Timing"),  # type: ignore[arg-type]
        (lambda: Approval(of="x", expires=HOUR, on_expiry="approve"), "silence never approves"),  # type: ignore[arg-type]
    ],
)
def test_what_cannot_be_meant_is_refused(declare: Callable[[], Any], says: str) -> None:
    with pytest.raises(DeclarationError) as refused:
        declare()

    assert says in f"{refused.value} {refused.value.hint}"


def test_what_a_courier_sends_cannot_be_held_to_a_time_and_check_says_so() -> None:
    later = Effect("shop.later", send=dict, relay=True)

    with registry.isolated():

        class Late(Workflow):
            """Leaves its calls to a courier, though they hold for an hour."""

            name, version = "late", 1

            @step(writes=["calls"])
            def propose(self, run: Any) -> None: ...

            @step(
                reads=["calls"],
                effects=[later],
                approval=Approval(of="calls", groups=["a"], timing=Timing(valid_for=HOUR)),
            )
            def settle(self, run: Any) -> None: ...

    assert any("what a courier sends may leave after" in each.message for each in problems(Late))
