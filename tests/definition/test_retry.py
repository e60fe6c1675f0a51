"""Trying again: how long to wait, and when to stop."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.definition import DeclarationError, Retry
from runs.rules import retry

pytestmark = pytest.mark.one_database

EVEN = Retry(base=timedelta(seconds=2), factor=3, maximum=timedelta(minutes=1), jitter=0)


def test_waits_grow_by_the_factor_up_to_the_maximum() -> None:
    waits = [retry.delay(EVEN, attempt, random=0.9).total_seconds() for attempt in range(1, 6)]

    assert waits == [2, 6, 18, 54, 60]


@given(attempt=st.integers(1, 10**6), random=st.floats(0, 1, exclude_max=True))
def test_a_wait_is_never_above_the_maximum_nor_below_its_unspread_share(
    attempt: int, random: float
) -> None:
    patient = Retry(base=timedelta(seconds=1), maximum=timedelta(minutes=5), jitter=0.5)

    waited = retry.delay(patient, attempt, random=random)

    longest = min(2.0 ** min(attempt - 1, 50), 300)
    assert longest / 2 <= waited.total_seconds() + 1e-6
    assert waited.total_seconds() <= longest + 1e-6


def test_the_last_attempt_allowed_is_the_last_one_made() -> None:
    assert [retry.exhausted(Retry(attempts=2), attempt) for attempt in (1, 2, 3)] == [
        False,
        True,
        True,
    ]


def test_errors_that_trying_again_cannot_mend_are_given_up_on() -> None:
    choosy = Retry(give_up_on=(LookupError,))

    assert retry.gives_up(choosy, KeyError("gone"))
    assert not retry.gives_up(choosy, ValueError("odd"))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"attempts": 0}, "1 means no second try"),
        ({"attempts": True}, "attempts is True"),
        ({"base": timedelta(0)}, "above zero"),
        ({"base": timedelta(hours=1)}, "below base"),
        ({"factor": 0.5}, "1 or more"),
        ({"jitter": 1.5}, "between 0 and 1"),
        ({"give_up_on": ("ValueError",)}, "exception classes"),
    ],
)
def test_a_retry_that_makes_no_sense_is_refused_where_it_is_written(
    wrong: dict[str, object], said: str
) -> None:
    with pytest.raises(DeclarationError, match=said) as refused:
        Retry(**wrong)  # type: ignore[arg-type]

    assert refused.value.place.file == __file__
