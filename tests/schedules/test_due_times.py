"""When a schedule is due: cron and interval, three zones, both changes of clocks, jitter, words."""

from datetime import UTC, datetime, timedelta
from itertools import islice, takewhile
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.rules.schedules import Timing, in_words, jitter_of, next_times, preview
from runs.rules.wall_clock import DstPolicy, Due, due_by_cron

pytestmark = pytest.mark.one_database

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
BERLIN, NEW_YORK, LORD_HOWE = "Europe/Berlin", "America/New_York", "Australia/Lord_Howe"
# Zone, the first second of the new offset, a fixed time in the missing or the repeated part.
FORWARD = [
    (BERLIN, datetime(2026, 3, 29, 1, tzinfo=UTC), "30 2 * * *"),
    (NEW_YORK, datetime(2026, 3, 8, 7, tzinfo=UTC), "30 2 * * *"),
    (LORD_HOWE, datetime(2026, 10, 3, 15, 30, tzinfo=UTC), "15 2 * * *"),
]
BACK = [
    (BERLIN, datetime(2026, 10, 25, 1, tzinfo=UTC), "30 2 * * *"),
    (NEW_YORK, datetime(2026, 11, 1, 6, tzinfo=UTC), "30 1 * * *"),
    (LORD_HOWE, datetime(2026, 4, 4, 15, tzinfo=UTC), "45 1 * * *"),
]


def around(expression: str, zone: str, change: datetime, dst: DstPolicy) -> list[Due]:
    """From 36 hours before the change to 36 hours after it."""
    every = due_by_cron(
        expression, zone=ZoneInfo(zone), dst=dst, after=change - timedelta(hours=36)
    )
    return list(takewhile(lambda due: due.at <= change + timedelta(hours=36), every))


@pytest.mark.parametrize(("zone", "change", "fixed"), FORWARD)
def test_a_fixed_time_that_is_skipped_is_due_right_after_the_gap(
    zone: str, change: datetime, fixed: str
) -> None:
    found = around(fixed, zone, change, DstPolicy.ONCE)

    assert [due.at for due in found if due.note] == [change]
    assert len(found) == 3
    assert all(due.fires for due in found)


@pytest.mark.parametrize(("zone", "change", "fixed"), FORWARD)
def test_under_skip_it_is_left_out_with_the_reason(zone: str, change: datetime, fixed: str) -> None:
    found = around(fixed, zone, change, DstPolicy.SKIP)

    assert [due.at for due in found if not due.fires] == [change]
    assert "does not exist" in next(due.note for due in found if not due.fires)


@pytest.mark.parametrize("dst", [DstPolicy.ONCE, DstPolicy.SKIP])
@pytest.mark.parametrize(("zone", "change", "fixed"), BACK)
def test_a_fixed_time_that_comes_twice_is_due_the_first_time(
    zone: str, change: datetime, fixed: str, dst: DstPolicy
) -> None:
    found = around(fixed, zone, change, dst)

    assert [due.at.astimezone(ZoneInfo(zone)).fold for due in found] == [0] * len(found)
    assert len(found) == 3


@pytest.mark.parametrize(("zone", "change", "fixed"), BACK)
def test_under_both_it_is_due_both_times(zone: str, change: datetime, fixed: str) -> None:
    found = around(fixed, zone, change, DstPolicy.BOTH)

    assert [due.at.astimezone(ZoneInfo(zone)).fold for due in found] == [0, 0, 1, 0]
    assert "second time" in found[2].note


@pytest.mark.parametrize("dst", list(DstPolicy))
@pytest.mark.parametrize(("zone", "change", "_fixed"), [*FORWARD, *BACK])
@pytest.mark.parametrize("expression", ["*/30 * * * *", "*/15 2 * * *", "0 * * * *", "5 */2 * * *"])
def test_a_wildcard_keeps_to_the_wall_clock_through_every_change(
    expression: str, zone: str, change: datetime, _fixed: str, dst: DstPolicy
) -> None:
    """Measured against every minute there is."""
    minute, hour, *_ = expression.split()
    local = ZoneInfo(zone)
    minutes = (change + timedelta(minutes=n) for n in range(-36 * 60 + 1, 36 * 60 + 1))
    expected = [
        at
        for at in minutes
        for wall in [at.astimezone(local)]
        if _fits(minute, wall.minute) and _fits(hour, wall.hour)
    ]

    found = around(expression, zone, change, dst)

    assert [due.at for due in found] == expected
    assert not [due for due in found if due.note]


def _fits(field: str, value: int) -> bool:
    if field == "*":
        return True
    return value % int(field[2:]) == 0 if field.startswith("*/") else value == int(field)


@given(
    start=st.integers(0, 730 * 86_400).map(lambda s: BEGIN + timedelta(seconds=s)),
    zone=st.sampled_from([BERLIN, NEW_YORK, LORD_HOWE, "UTC", "Africa/Casablanca"]),
    expression=st.sampled_from(["30 2 * * *", "*/20 * * * *", "0 3 1 * *", "15 1,2 * * 0"]),
    dst=st.sampled_from(list(DstPolicy)),
)
def test_times_rise_and_do_not_depend_on_where_one_began_to_look(
    start: datetime, zone: str, expression: str, dst: DstPolicy
) -> None:
    def found(after: datetime, amount: int) -> list[Due]:
        every = due_by_cron(expression, zone=ZoneInfo(zone), dst=dst, after=after)
        return list(islice(every, amount))

    all_of_them = found(start, 12)

    times = [due.at for due in all_of_them]
    assert times == sorted(set(times))
    assert times[0] > start
    for place in range(1, 12):
        assert found(times[place - 1], 12 - place) == all_of_them[place:]


def test_an_interval_is_counted_from_its_beginning() -> None:
    anchor = datetime(2026, 3, 29, 0, 30, tzinfo=UTC)
    timing = Timing(every=timedelta(minutes=45), anchor=anchor, zone=BERLIN)

    found = preview(timing, after=anchor + timedelta(minutes=91))

    assert found[0].at == anchor + timedelta(minutes=135)
    assert found[1].at - found[0].at == timedelta(minutes=45)


def test_nothing_is_due_after_the_end() -> None:
    anchor = datetime(2026, 1, 1, tzinfo=UTC)
    timing = Timing(cron="0 0 * * *", anchor=anchor, ends=anchor + timedelta(days=3))

    assert len(list(next_times(timing, after=anchor))) == 3


def test_jitter_is_the_same_for_the_same_time_and_within_its_bounds() -> None:
    at, most = datetime(2026, 1, 1, tzinfo=UTC), timedelta(minutes=5)

    each = [jitter_of(7, at + timedelta(days=day), most=most) for day in range(50)]

    assert each == [jitter_of(7, at + timedelta(days=day), most=most) for day in range(50)]
    assert len(set(each)) > 30
    assert all(timedelta(0) <= one < most for one in each)
    assert jitter_of(7, at, most=timedelta(0)) == timedelta(0)


def test_it_is_said_in_words() -> None:
    anchor = datetime(2026, 1, 1, tzinfo=UTC)

    assert in_words(Timing(cron="30 2 * * *", zone=BERLIN, anchor=anchor)) == (
        "At 02:30 every day, Europe/Berlin, clock changes: once"
    )
    assert in_words(Timing(every=timedelta(minutes=5), anchor=anchor)) == "every 5 m"
