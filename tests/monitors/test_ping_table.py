"""Both databases do with a ping exactly what `rules.pinging` says, under invented monitors and pings."""

from collections.abc import Callable
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from monitors.ledger.pings import receive
from monitors.models import Monitor
from monitors.rules.pinging import Beat, Given, Standing, Taken, take
from monitors.rules.received import Received, next_by_cron
from monitors.rules.states import MonitorState, PingKind, Verdict
from tests.monitors.pinged import a_monitor, again, last_ping

pytestmark = pytest.mark.django_db(transaction=True)

NOW = datetime.now(UTC)
MAYBE_TIMES = st.none() | st.integers(-7200, 7200).map(lambda s: NOW + timedelta(seconds=s))
RIDS = st.sampled_from([None, None, UUID(int=1), UUID(int=2)])
BEATS = st.none() | st.builds(Beat, fence=st.integers(1, 3), number=st.integers(1, 4))
SPANS = st.none() | st.sampled_from([0.5, 60.0, 3600.0])


@st.composite
def monitors(draw: Callable[..., Any]) -> dict[str, Any]:
    state = draw(st.sampled_from([each.value for each in MonitorState]))
    paused = state == MonitorState.PAUSED
    cron = draw(st.sampled_from(["", "", "*/5 * * * *"]))
    fence = draw(st.none() | st.integers(1, 3))
    return {
        "state": state,
        "verdict": draw(st.sampled_from(["", *(each.value for each in Verdict)])),
        "cron": cron,
        "zone": "Europe/Berlin",
        "period": None if cron else draw(SPANS),
        "grace": draw(st.sampled_from([0.0, 60.0])),
        "longest": draw(SPANS),
        "post_only": draw(st.booleans()),
        "manual_resume": draw(st.booleans()),
        "paused_at": NOW if paused else None,
        "paused_until": draw(MAYBE_TIMES) if paused else None,
        "last_start_at": draw(MAYBE_TIMES),
        "last_start_rid": draw(RIDS),
        "expected_at": draw(MAYBE_TIMES),
        "alert_at": draw(MAYBE_TIMES),
        "judge_at": draw(MAYBE_TIMES),
        "fence": fence,
        "beat_number": draw(st.integers(1, 4)) if fence else None,
    }


PINGS: st.SearchStrategy[dict[str, Any]] = st.builds(
    dict,
    kind=st.sampled_from(list(PingKind)[:4]),
    rid=RIDS,
    beat=BEATS,
    sent_at=MAYBE_TIMES,
    method=st.sampled_from(["GET", "POST"]),
)


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(told=monitors(), pings=st.lists(PINGS, min_size=1, max_size=5))
def test_a_monitor_stands_after_pings_as_the_table_says(
    told: dict[str, Any], pings: list[dict[str, Any]]
) -> None:
    monitor = a_monitor(**told)
    standing, starts = standing_of(monitor), dict[UUID, datetime]()

    for ping in pings:
        receive(Received(code=monitor.code, **ping))

        kept = last_ping(monitor)
        said = take(
            standing,
            Given(at=kept.at, **ping),
            next_at=next_by_cron(monitor.cron, monitor.zone, after=kept.at),
            started=starts.get,
        )
        if said.kind is PingKind.START and ping["rid"] and not said.suspicious:
            starts[ping["rid"]] = kept.at
        standing = standing_of(again(monitor))
        assert but_for_duration(standing) == but_for_duration(said.after)
        assert standing.last_duration == pytest.approx(said.after.last_duration, abs=2e-6)
        assert kept_as(said) == (kept.kind, kept.suspicious, kept.n)
        assert kept.duration == pytest.approx(said.duration, abs=2e-6)


def standing_of(monitor: Monitor) -> Standing:
    return Standing(**{each.name: getattr(monitor, each.name) for each in fields(Standing)})


def but_for_duration(standing: Standing) -> Standing:
    """A duration is a whole number of microseconds only before it is a float."""
    return replace(standing, last_duration=None)


def kept_as(said: Taken) -> tuple[str, str, int]:
    return said.kind.value, said.suspicious, said.after.n_pings
