"""How durations, sizes and states are said and drawn."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.rules import states, words
from runs.rules.looks import LOOKS, look_of
from runs.rules.payloads import payload_of
from runs.rules.timescale import Interval, scale_of

pytestmark = pytest.mark.one_database
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0.0123, "12 ms"),
        (2.14, "2.1 s"),
        (42, "42 s"),
        (192, "3 m 12 s"),
        (11_520, "3 h 12 m"),
        (7_200, "2 h"),
        (183_600, "2 d 3 h"),
    ],
)
def test_a_duration_is_said_in_two_units_at_most(seconds: float, said: str) -> None:
    assert words.span(timedelta(seconds=seconds)) == said


@pytest.mark.parametrize(
    ("amount", "said"),
    [(900, "900 B"), (4096, "4.0 KB"), (319_488, "312 KB"), (5_242_880, "5.0 MB")],
)
def test_a_size_is_said_for_people(amount: int, said: str) -> None:
    assert words.size(amount) == said


@pytest.mark.parametrize(
    "kind",
    [
        "RunState",
        "StepState",
        "CallState",
        "WaitState",
        "DecisionState",
        "AssignmentState",
        "WorkerState",
    ],
)
def test_every_state_has_a_look_of_its_own(kind: str) -> None:
    missing = [state for state in getattr(states, kind) if str(state) not in LOOKS]

    assert not missing


def test_only_what_needs_a_person_is_filled() -> None:
    assert look_of("failed").filled
    assert look_of("waiting", kind="decision").filled
    assert not look_of("waiting", kind="timer").filled
    assert not look_of("no such state").filled


@given(
    st.lists(
        st.tuples(st.floats(0, 1e6), st.floats(0, 1e5)).map(
            lambda one: Interval(
                start=NOON + timedelta(seconds=one[0]),
                end=NOON + timedelta(seconds=one[0] + one[1]),
            )
        ),
        min_size=1,
        max_size=30,
    )
)
def test_time_never_runs_backwards_on_the_axis(busy: list[Interval]) -> None:
    scale = scale_of(busy)

    moments = sorted({one.start for one in busy} | {one.end for one in busy})
    places = [scale.x(moment) for moment in moments]

    assert places == sorted(places)
    assert all(0 <= place <= 100.001 for place in places)


def test_long_idle_time_is_folded_and_says_how_long_it_was() -> None:
    busy = [
        Interval(start=NOON, end=NOON + timedelta(minutes=1)),
        Interval(start=NOON + timedelta(hours=3), end=NOON + timedelta(hours=3, minutes=1)),
    ]

    scale = scale_of(busy)

    assert [gap.length for gap in scale.gaps] == [timedelta(hours=2, minutes=59)]
    assert scale.x(busy[1].start) == pytest.approx(52)


def test_a_cut_payload_says_how_much_of_it_is_shown() -> None:
    text = '"' + "x" * 10_000 + '"'

    cut, whole, hidden = (
        payload_of(text, visible=True),
        payload_of('{"a":1}', visible=True),
        payload_of(text, visible=False),
    )

    assert cut.cut
    assert (cut.shown_size, cut.size) == (4096, 10_002)
    assert not whole.cut
    assert hidden.hidden
    assert hidden.shown == ""
