"""Slots of a beat bar: the worst of what happened in each, how tall, and what is said of it."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitors.rules.bars import HEIGHT, LOWEST, bars_of, histogram, text_of
from monitors.rules.beats import Spell, Stretch, gaps_of, slots_of, uptime
from monitors.rules.expected import expectation, next_expected
from monitors.rules.flapping import flaps
from monitors.rules.incidents import number_in, title_of
from monitors.rules.monitors import MonitorWish
from monitors.rules.reminding import next_reminder, pause_before

pytestmark = pytest.mark.one_database
NOW = datetime(2026, 11, 30, 14, 10, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def clock(at: datetime) -> str:
    return f"{at:%H:%M}"


def ago(minutes: float) -> datetime:
    return NOW - MINUTE * minutes


def test_a_bar_is_said_in_words_with_the_time_of_what_is_missing() -> None:
    spells = [
        Spell(start=ago(500), end=ago(126), state="up"),
        Spell(start=ago(126), end=ago(121), state="down"),
        Spell(start=ago(120), end=NOW, state="up"),
    ]
    slots = slots_of(Stretch(until=NOW, each=MINUTE * 6, amount=40), spells=spells)

    assert text_of(slots, clock=clock) == "40 slots of 6 m to 14:10: 39 up, 1 missing at 12:04."


def test_a_slot_shows_the_worst_of_what_happened_in_it() -> None:
    stretch = Stretch(until=NOW, each=MINUTE * 10, amount=1)
    up = Spell(start=ago(60), end=NOW, state="up")
    worse = [Spell(start=ago(5), end=ago(4), state=state) for state in ("blind", "slow", "down")]

    found = [slots_of(stretch, spells=[up, each])[0].state for each in worse]

    assert found == ["blind", "slow", "down"]
    assert slots_of(stretch, spells=[up, *worse])[0].state == "down"
    assert slots_of(stretch, spells=[])[0].state == "none"


def test_a_beat_after_its_time_is_late_and_a_longer_gap_is_taller() -> None:
    stretch = Stretch(until=NOW, each=MINUTE, amount=4)
    beats = [ago(3.5), ago(2.5), ago(0.5)]

    slots = slots_of(stretch, spells=[], beats=beats, expected=MINUTE)
    bars = bars_of(slots, allowed=MINUTE * 2, clock=clock)

    assert [slot.state for slot in slots] == ["up", "up", "none", "late"]
    assert LOWEST < bars[0].height < bars[1].height < bars[3].height == HEIGHT


def test_a_hole_is_a_missing_beat_and_a_hatch_is_nobody_looking() -> None:
    stretch = Stretch(until=NOW, each=MINUTE, amount=3)
    spells = [
        Spell(start=ago(3), end=ago(2), state="down"),
        Spell(start=ago(2), end=ago(1), state="blind"),
        Spell(start=ago(1), end=None, state="paused"),
    ]

    bars = bars_of(slots_of(stretch, spells=spells), allowed=None, clock=clock)

    assert [bar.kind for bar in bars] == ["hole", "hatch", "rest"]


@given(st.lists(st.integers(0, 2400), max_size=60), st.integers(1, 60))
def test_every_beat_of_the_stretch_is_in_one_slot(seconds: list[int], amount: int) -> None:
    stretch = Stretch(until=NOW, each=timedelta(seconds=2400 / amount), amount=amount)
    beats = sorted(NOW - timedelta(seconds=second) for second in seconds)

    slots = slots_of(stretch, spells=[], beats=beats, expected=MINUTE)

    inside = [beat for beat in beats if beat > slots[0].start]
    assert abs(sum(slot.beats for slot in slots) - len(inside)) <= 1
    assert len(slots) == amount


def test_uptime_counts_what_was_watched() -> None:
    spells = [
        Spell(start=ago(100), end=ago(90), state="down"),
        Spell(start=ago(90), end=ago(50), state="up"),
        Spell(start=ago(50), end=None, state="paused"),
    ]

    assert uptime(spells, start=ago(100), end=NOW) == pytest.approx(0.8)
    assert uptime([], start=ago(100), end=NOW) is None


def test_gaps_are_counted_in_bins_and_those_that_alert_are_told_apart() -> None:
    gaps = gaps_of([ago(10), ago(9), ago(8), ago(1)])

    bins = histogram(gaps, allowed=MINUTE * 2)

    assert [gap / MINUTE for gap in gaps] == [1, 1, 7]
    assert sum(each.amount for each in bins) == 3
    assert [each.amount for each in bins if each.over] == [0] * 6 + [1]
    assert histogram([], allowed=None) == []


@pytest.mark.parametrize(
    ("wish", "words"),
    [
        (MonitorWish(period=30.0, grace=60.0), "every 30 s, grace 1 m"),
        (MonitorWish(period=5.0, grace=0.0), "every 5 s, grace 0 s"),
        (MonitorWish(grace=60.0, late_start=90.0), "to begin within 1 m 30 s"),
        (MonitorWish(grace=60.0), "nothing by the clock"),
        (MonitorWish(cron="0 2 * * *", grace=60.0), "At 02:00 every day, UTC, grace 1 m"),
    ],
)
def test_what_is_expected_is_said_in_words(wish: MonitorWish, words: str) -> None:
    assert expectation(wish, now=NOW) == words


def test_the_next_times_follow_the_last_beat_or_the_clock() -> None:
    by_period = next_expected(MonitorWish(period=60.0), after=NOW)
    by_cron = next_expected(MonitorWish(cron="0 2 * * *", zone="Europe/Berlin"), after=NOW)

    assert [next(by_period) for _ in range(2)] == [NOW + MINUTE, NOW + 2 * MINUTE]
    assert next(by_cron) == datetime(2026, 12, 1, 1, tzinfo=UTC)


def test_the_third_failure_within_half_an_hour_flaps() -> None:
    assert not flaps([ago(20), NOW], now=NOW)
    assert flaps([ago(20), ago(10), NOW], now=NOW)
    assert not flaps([ago(31), ago(10), NOW], now=NOW)


def test_reminders_back_off_and_stop_for_whoever_has_it_in_hand() -> None:
    hours = [pause_before(number) / timedelta(hours=1) for number in (1, 2, 3, 4, 9)]
    later = NOW + timedelta(hours=2)

    assert hours == [0.25, 1, 4, 24, 24]
    assert next_reminder(now=NOW, sent=0, acknowledged=True, snoozed_until=None) is None
    assert next_reminder(now=NOW, sent=5, acknowledged=True, snoozed_until=later) == later
    assert (
        next_reminder(now=NOW, sent=0, acknowledged=False, snoozed_until=ago(1))
        == NOW + 15 * MINUTE
    )


def test_a_title_names_the_first_and_counts_the_others() -> None:
    assert title_of("A is silent.", affected=1) == "A is silent."
    assert title_of("A is silent.", affected=4) == "A is silent, and 3 more."
    assert number_in("incident:7:12 @ channel 3") == 12
    assert number_in("incident:7:digest:4 @ mail") is None
