"""Which verdict two facts make: each cell of the table, and what holds under invented facts."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitors.rules.sayings import blind, said
from monitors.rules.states import MonitorKind, MonitorState, Verdict
from monitors.rules.verdicts import Breach, Facts, Judged, counted_from, judge

pytestmark = pytest.mark.one_database

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def ago(seconds: float) -> datetime:
    return NOW - timedelta(seconds=seconds)


BEATING = Facts(
    now=NOW,
    heard_at=ago(3),
    expected_at=ago(-7),
    missing_from=ago(-37),
    believed_at=ago(1),
    lives=True,
    lived_at=ago(2),
)
MISSING = replace(
    BEATING, heard_at=ago(60), expected_at=ago(50), missing_from=ago(20), lived_at=ago(62)
)


@pytest.mark.parametrize(
    ("facts", "verdict", "breach"),
    [
        (BEATING, Verdict.ALIVE, Breach.NONE),
        (replace(BEATING, failed=True), Verdict.ALIVE, Breach.FAILED),
        (
            replace(BEATING, progress_at=ago(61), progress_limit=timedelta(minutes=1)),
            Verdict.SLOW,
            Breach.PROGRESS,
        ),
        (
            replace(BEATING, progress_at=ago(59), progress_limit=timedelta(minutes=1)),
            Verdict.ALIVE,
            Breach.NONE,
        ),
        (replace(BEATING, end_by=ago(5)), Verdict.SLOW, Breach.TOO_LONG),
        (replace(BEATING, lapsed_at=ago(5)), Verdict.SLOW, Breach.LEASE),
        (replace(BEATING, lapsed_at=ago(2)), Verdict.ALIVE, Breach.NONE),
        (MISSING, Verdict.SILENT, Breach.SILENCE),
        (replace(MISSING, lived_at=ago(2)), Verdict.CUT_OFF, Breach.SILENCE),
        (replace(MISSING, progress_at=ago(2)), Verdict.CUT_OFF, Breach.SILENCE),
        (replace(MISSING, lived_at=ago(16), lives=False), Verdict.SILENT, Breach.SILENCE),
        (replace(BEATING, start_by=ago(1)), Verdict.SILENT, Breach.LATE_START),
    ],
)
def test_each_pair_of_facts_has_its_verdict(facts: Facts, verdict: Verdict, breach: Breach) -> None:
    judged = judge(facts)

    assert judged is not None
    assert (judged.verdict, judged.breach) == (verdict, breach)


@pytest.mark.parametrize(
    "facts",
    [
        replace(MISSING, believed_at=None),
        replace(MISSING, believed_at=ago(21)),
        replace(BEATING, heard_at=None),
        replace(BEATING, start_by=ago(-1)),
    ],
)
def test_of_what_cannot_be_known_nothing_is_said(facts: Facts) -> None:
    assert judge(facts) is None


moments = st.one_of(st.none(), st.integers(-7200, 7200).map(ago))
facts = st.builds(
    Facts,
    now=st.just(NOW),
    heard_at=moments,
    expected_at=moments,
    missing_from=moments,
    believed_at=moments,
    failed=st.booleans(),
    lives=st.sampled_from([True, False, None]),
    lived_at=moments,
    lapsed_at=moments,
    progress_at=moments,
    progress_limit=st.one_of(st.none(), st.integers(1, 7200).map(lambda s: timedelta(seconds=s))),
    start_by=moments,
    end_by=moments,
)


@given(facts=facts)
def test_nobody_is_called_absent_before_its_grace_or_without_an_own_ping(facts: Facts) -> None:
    judged = judge(facts)

    if judged is not None and judged.breach is Breach.SILENCE:
        assert facts.missing_from is not None
        assert facts.believed_at is not None
        assert facts.missing_from <= facts.believed_at
        assert facts.now >= facts.missing_from
    if judged is not None and judged.verdict is not Verdict.ALIVE:
        assert judged.since <= facts.now or judged.breach is Breach.LEASE


@given(facts=facts, kind=st.sampled_from(MonitorKind))
def test_every_verdict_has_a_sentence_and_an_advice_of_its_own(
    facts: Facts, kind: MonitorKind
) -> None:
    judged = judge(facts)

    if judged is not None:
        text = said(judged, facts, kind=kind, name="nightly", site="http://here")
        assert text.sentence.endswith(".")
        assert text.advice.endswith((".", ")."))
        assert "{" not in text.sentence + text.advice


@given(
    at=st.integers(-7200, 7200).map(ago),
    until=moments,
    allowed=st.integers(0, 7200).map(lambda s: timedelta(seconds=s)),
)
def test_after_blindness_a_deadline_is_a_whole_period_away_and_never_nearer(
    at: datetime, until: datetime | None, allowed: timedelta
) -> None:
    counted = counted_from(at, allowed=allowed, blind_until=until)

    assert counted >= at
    assert until is None or counted >= until + allowed


@pytest.mark.parametrize(
    ("verdict", "breach", "state"),
    [
        (Verdict.ALIVE, Breach.NONE, MonitorState.UP),
        (Verdict.ALIVE, Breach.FAILED, MonitorState.DOWN),
        (Verdict.SLOW, Breach.PROGRESS, MonitorState.UP),
        (Verdict.CUT_OFF, Breach.SILENCE, MonitorState.DOWN),
        (Verdict.SILENT, Breach.SILENCE, MonitorState.DOWN),
        (Verdict.BLIND, Breach.NONE, MonitorState.UP),
    ],
)
def test_only_absence_and_its_own_word_make_a_monitor_go_down(
    verdict: Verdict, breach: Breach, state: MonitorState
) -> None:
    assert Judged(verdict=verdict, breach=breach, since=NOW).state is state


def test_blindness_says_from_when_until_when_and_why() -> None:
    open_, over = (
        blind(since=ago(3600), until=None, because="the pages take no pings"),
        blind(since=ago(3600), until=NOW, because="the watch was away"),
    )

    assert open_.sentence == "Blind since 2026-11-30 11:00:00 UTC: the pages take no pings."
    assert over.sentence == (
        "Blind from 2026-11-30 11:00:00 UTC to 2026-11-30 12:00:00 UTC (1 h): the watch was away."
    )
