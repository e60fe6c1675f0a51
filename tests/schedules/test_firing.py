"""A schedule fires: one row a nominal time, also across downtime, changes of clocks and two clockworks."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.db import IntegrityError, transaction
from pytest_django import Settings

from runs.engine import firing as duty
from runs.ledger import firings, schedules
from runs.models import AuditEvent, Firing, Run, Schedule
from runs.queries.clock import db_now
from runs.queries.verify import violations
from runs.rules.schedules import jitter_of
from runs.rules.wall_clock import DstPolicy, due_by_cron
from tests.schedules.builders import (
    a_schedule,
    a_wish,
    fire,
    firings_of,
    let_it_be_due,
    the_firing,
    the_time,
)
from tests.schedules.test_due_times import BACK, FORWARD
from tests.support import runs

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("_known")]

HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def states_of(schedule: Schedule) -> list[str]:
    return [one.state for one in firings_of(schedule)]


def test_a_time_that_comes_starts_a_run_with_its_row_and_moves_the_next_time() -> None:
    schedule = a_schedule(every=60, labels={"team": "mail"}, data={"folder": "/there"})
    nominal = let_it_be_due(schedule)

    assert fire() == 1
    assert fire() == 0

    (firing,) = firings_of(schedule)
    run = firing.run
    assert run is not None
    assert (firing.state, firing.nominal_at) == ("started", nominal)
    assert run.started_by == "schedule nightly"
    assert run.labels == {"team": "mail", "schedule": "nightly"}
    schedule.refresh_from_db()
    assert schedule.next_at == nominal + timedelta(seconds=60)
    assert AuditEvent.objects.filter(kind="schedule.fired").count() == 1
    assert violations() == []


def test_of_two_clockworks_that_see_it_due_one_fires_it() -> None:
    schedule = a_schedule(every=60)
    let_it_be_due(schedule)

    assert (firings.fire(schedule.pk), firings.fire(schedule.pk)) == (1, 0)

    assert Run.objects.count() == 1


def test_the_database_refuses_a_second_row_for_one_time() -> None:
    schedule = a_schedule(every=60)
    let_it_be_due(schedule)
    fire()
    (firing,) = firings_of(schedule)
    again = Firing(
        tenant_id=firing.tenant_id,
        schedule=schedule,
        nominal_at=firing.nominal_at,
        state="skipped",
        reason="tests",
        decided_at=firing.decided_at,
    )

    with pytest.raises(IntegrityError), transaction.atomic():
        again.save(force_insert=True)


def test_what_the_database_refuses_of_one_schedule_does_not_stop_the_others() -> None:
    """As after a clock was put back: there is a row for the time that is next."""
    broken, other = a_schedule(every=60), a_schedule(slug="other", every=60)
    nominal = let_it_be_due(broken, ago=timedelta(seconds=9))
    let_it_be_due(other)
    Firing.objects.create(
        tenant_id=broken.tenant_id,
        schedule=broken,
        nominal_at=nominal,
        state="skipped",
        reason="tests",
        decided_at=nominal,
    )

    assert fire() == 1

    assert states_of(broken) == ["skipped"]
    assert states_of(other) == ["started"]


def test_every_time_that_nobody_looked_at_before_a_change_has_its_row() -> None:
    schedule = a_schedule(every=60)
    nominal = let_it_be_due(schedule, ago=timedelta(seconds=181))

    schedules.change(runs.the_operator(), schedule.pk, a_wish(every=3600))

    assert [one.nominal_at for one in firings_of(schedule)] == [
        nominal + number * timedelta(seconds=60) for number in range(4)
    ]
    assert set(states_of(schedule)) == {"skipped"}
    assert violations() == []


@pytest.mark.parametrize(
    ("catch_up", "window", "expected"),
    [
        ("none", 0, ["missed"] * 6),
        ("latest", 0, ["missed"] * 5 + ["started"]),
        ("all", 2.5 * 3600, ["missed"] * 4 + ["started"] * 2),
    ],
)
def test_after_downtime_each_time_has_its_row(
    settings: Settings, catch_up: str, window: float, expected: list[str]
) -> None:
    begun = datetime(2026, 12, 24, 0, 30, tzinfo=UTC)
    with the_time(settings, begun):
        schedule = a_schedule(
            cron="0 * * * *", overlap="concurrent", catch_up=catch_up, window=window
        )
    with the_time(settings, begun + 6 * HOUR):
        fire()

        assert states_of(schedule) == expected
        assert all(one.reason for one in firings_of(schedule) if one.state == "missed")
        assert violations() == []


@pytest.mark.parametrize("downtime", [False, True], ids=["looked at", "downtime"])
@pytest.mark.parametrize("wild", [False, True], ids=["fixed", "wildcard"])
@pytest.mark.parametrize(("zone", "change", "fixed"), [*FORWARD, *BACK])
def test_each_nominal_time_around_a_change_of_clocks_has_exactly_one_firing(
    settings: Settings, zone: str, change: datetime, fixed: str, wild: bool, downtime: bool
) -> None:
    expression = "30 */3 * * *" if wild else fixed
    begun, end = change - 30 * HOUR, change + 30 * HOUR
    with the_time(settings, begun):
        schedule = a_schedule(cron=expression, zone=zone, overlap="concurrent")
    every = due_by_cron(expression, zone=ZoneInfo(zone), dst=DstPolicy.ONCE, after=begun)
    expected = []
    for due in every:
        if due.at > end:
            break
        expected.append(due.at)
        if not downtime:
            with the_time(settings, due.at + timedelta(seconds=2)):
                fire()
    with the_time(settings, end):
        fire()

        assert [one.nominal_at for one in firings_of(schedule)] == expected
        started = [one for one in firings_of(schedule) if one.run_id]
        assert len(started) == (1 if downtime else len(expected))
        assert len({one.run_id for one in started}) == len(started)


def test_a_long_absence_is_made_up_for_in_bounded_steps(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(firings, "AT_ONCE", 50)
    begun = datetime(2026, 12, 24, tzinfo=UTC)
    with the_time(settings, begun):
        schedule = a_schedule(every=60)
    with the_time(settings, begun + timedelta(minutes=230, seconds=30)):
        assert firings.fire(schedule.pk) == 50
        fire()

        assert states_of(schedule) == ["missed"] * 229 + ["started"]
        assert AuditEvent.objects.filter(kind="schedule.fired").count() == 5
        assert violations() == []


def test_while_it_is_paused_each_time_is_skipped_with_the_reason(settings: Settings) -> None:
    begun = datetime(2026, 12, 24, 0, 30, tzinfo=UTC)
    with the_time(settings, begun):
        schedule = a_schedule(cron="0 * * * *")
        schedules.pause(runs.the_operator(), schedule.pk, because="the mailbox moves")
    with the_time(settings, begun + HOUR):
        fire()
    with the_time(settings, begun + 2.2 * HOUR):
        schedules.resume(runs.the_operator(), schedule.pk)
        fire()
    with the_time(settings, begun + 2.51 * HOUR):
        fire()

        assert states_of(schedule) == ["skipped", "skipped", "started"]
        assert "the mailbox moves" in firings_of(schedule)[1].reason
        schedule.refresh_from_db()
        assert schedule.skips == 0


def test_run_now_starts_one_and_does_not_move_the_next_time() -> None:
    schedule = a_schedule()
    before = Schedule.objects.get(pk=schedule.pk).next_at

    fired = firings.run_now(runs.the_operator(), schedule.pk)
    again = firings.run_now(runs.the_operator(), schedule.pk)

    assert (fired.state, again.state) == ("started", "skipped")
    assert Schedule.objects.get(pk=schedule.pk).next_at == before
    assert [one.by_hand for one in firings_of(schedule)] == [True, True]
    assert violations() == []


def test_after_a_jump_of_the_clock_nothing_is_fired_for_one_lease(settings: Settings) -> None:
    """R31"""
    schedule = a_schedule(every=86_400)
    works = duty.Firing()
    works.go_round()

    with the_time(settings, db_now() + 1.5 * DAY):
        assert works.go_round() == 0
        assert works.go_round() == 0
        assert fire() == 1

    assert len(firings_of(schedule)) == 1


def test_what_cannot_be_started_any_more_is_refused_with_the_reason() -> None:
    schedule = a_schedule(every=60)
    Schedule.objects.filter(pk=schedule.pk).update(workflow="gone")
    let_it_be_due(schedule)

    fire()

    firing = the_firing(schedule)
    assert (firing.state, firing.run_id) == ("refused", None)
    assert "No workflow 'gone'" in firing.reason


def test_a_removed_one_is_never_due_and_keeps_its_firings() -> None:
    schedule = a_schedule(every=60)
    let_it_be_due(schedule)
    fire()

    schedules.remove(runs.the_operator(), schedule.pk, because="tests")

    assert fire() == 0
    assert len(firings_of(schedule)) == 1
    assert a_schedule().pk != schedule.pk
    assert violations() == []


def test_jitter_delays_the_time_and_keeps_its_name(settings: Settings) -> None:
    begun = datetime(2026, 12, 24, tzinfo=UTC)
    with the_time(settings, begun):
        schedule = a_schedule(cron="0 * * * *", jitter=3000)
    schedule.refresh_from_db()
    assert schedule.next_at is not None
    assert schedule.due_at is not None
    jitter = jitter_of(schedule.pk, schedule.next_at, most=timedelta(seconds=3000))
    assert schedule.due_at == schedule.next_at + jitter

    with the_time(settings, schedule.due_at - timedelta(minutes=1)):
        assert fire() == 0
    with the_time(settings, schedule.due_at + timedelta(seconds=1)):
        assert fire() == 1

    assert the_firing(schedule).nominal_at == schedule.next_at
