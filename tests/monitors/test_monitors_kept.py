"""Monitors are made, changed, paused, resumed and removed by people who may operate."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from monitors.ledger import monitors
from monitors.ledger.monitors import MonitorChanged, MonitorIsOurs, NoSuchMonitor
from monitors.ledger.pings import receive
from monitors.models import Monitor
from monitors.rules.filters import Filters
from monitors.rules.monitors import MonitorRefused, MonitorWish
from monitors.rules.received import Received
from monitors.rules.states import PingKind
from runs.models import AuditEvent
from runs.queries.clock import db_now
from runs.rules.policy import Actor, NotAllowed
from tests.monitors.pinged import a_monitor, again, last_ping
from tests.support.runs import the_operator, the_tenant

pytestmark = pytest.mark.django_db
HOURLY = MonitorWish(name="Nightly backup", period=3600.0, grace=600.0)


def pinged(monitor: Monitor, kind: PingKind = PingKind.SUCCESS) -> datetime:
    receive(Received(code=monitor.code, kind=kind))
    return last_ping(monitor).at


def test_a_new_monitor_expects_nothing_until_it_was_pinged_once() -> None:
    the_tenant()
    monitor = monitors.create(the_operator(), HOURLY)

    before = again(monitor)
    at = pinged(monitor)

    after = again(monitor)
    assert (before.state, before.alert_at, before.judge_at) == ("new", None, None)
    assert (after.state, after.expected_at) == ("up", at + timedelta(hours=1))
    assert after.alert_at == at + timedelta(hours=1, minutes=10)
    assert after.judge_at == at


def test_one_with_a_late_start_goes_down_if_it_is_never_pinged() -> None:
    the_tenant()
    wish = MonitorWish(name="A job", period=3600.0, late_start=120.0)

    monitor = again(monitors.create(the_operator(), wish))

    assert monitor.alert_at == monitor.judge_at == monitor.created_at + timedelta(minutes=2)


def test_an_ordinary_ping_leaves_the_indexed_time_alone() -> None:
    monitor = a_monitor()
    at = pinged(monitor)
    later = at + timedelta(minutes=30)
    Monitor.objects.filter(pk=monitor.pk).update(judge_at=later, verdict="alive")

    again_at = pinged(monitor)

    assert again(monitor).judge_at == later
    assert again(monitor).expected_at == again_at + timedelta(hours=1)


def test_what_comes_by_cron_is_expected_at_its_next_time_in_its_zone() -> None:
    the_tenant()
    wish = MonitorWish(name="Nightly", cron="30 2 * * *", zone="Asia/Tokyo", grace=60.0)
    monitor = monitors.create(the_operator(), wish)

    at = pinged(monitor)

    expected = again(monitor).expected_at
    assert expected is not None
    assert (expected.hour, expected.minute) == (17, 30)
    assert at < expected <= at + timedelta(days=1)


def test_a_start_has_to_be_followed_within_the_longest_time() -> None:
    monitor = a_monitor(longest=30.0)
    last_success = pinged(monitor)

    at = pinged(monitor, PingKind.START)

    assert again(monitor).alert_at == at + timedelta(seconds=30)
    assert again(monitor).judge_at == last_success


def test_other_limits_count_from_the_last_ping() -> None:
    the_tenant()
    monitor = monitors.create(the_operator(), HOURLY)
    at = pinged(monitor)

    changed = monitors.change(
        the_operator(), monitor.pk, MonitorWish(name="Faster", period=60.0, grace=5.0)
    )

    assert again(monitor).alert_at == at + timedelta(seconds=65)
    assert (changed.revision, changed.name) == (2, "Faster")


def test_who_saw_an_older_revision_changes_nothing() -> None:
    the_tenant()
    monitor = monitors.create(the_operator(), HOURLY)
    monitors.pause(the_operator(), monitor.pk, seen=1)

    with pytest.raises(MonitorChanged):
        monitors.resume(the_operator(), monitor.pk, seen=1)

    assert again(monitor).state == "paused"


def test_a_pause_without_an_end_is_over_with_the_next_success() -> None:
    monitor = a_monitor()
    pinged(monitor)
    monitors.pause(the_operator(), monitor.pk, because="moving house")
    paused = again(monitor)

    pinged(monitor)

    assert (paused.state, paused.alert_at, paused.paused_note) == ("paused", None, "moving house")
    assert (again(monitor).state, again(monitor).paused_at) == ("up", None)


def test_a_pause_with_an_end_keeps_pings_and_stays() -> None:
    monitor = a_monitor()
    until = db_now() + timedelta(hours=2)
    monitors.pause(the_operator(), monitor.pk, until=until)

    pinged(monitor)

    assert (again(monitor).state, again(monitor).paused_until) == ("paused", until)
    assert last_ping(monitor).kind == "ignored"


def test_a_resumed_monitor_is_given_a_whole_period() -> None:
    monitor = a_monitor()
    pinged(monitor)
    Monitor.objects.filter(pk=monitor.pk).update(last_ping_at=db_now() - timedelta(days=9))
    monitors.pause(the_operator(), monitor.pk)

    resumed = monitors.resume(the_operator(), monitor.pk)

    assert resumed.state == "up"
    assert resumed.expected_at == resumed.updated_at + timedelta(hours=1)


def test_a_removed_monitor_is_not_found_and_its_slug_is_free() -> None:
    monitor = a_monitor(slug="backup")

    monitors.remove(the_operator(), monitor.pk)

    assert receive(Received(code=monitor.code, kind=PingKind.SUCCESS)).what == "unknown"
    assert (again(monitor).slug, again(monitor).n_pings) == ("", 0)


def test_another_address_ends_the_old_one() -> None:
    monitor = a_monitor()

    renewed = monitors.renew_code(the_operator(), monitor.pk)

    assert receive(Received(code=monitor.code, kind=PingKind.SUCCESS)).what == "unknown"
    assert receive(Received(code=renewed.code, kind=PingKind.SUCCESS)).what == "taken"


def test_a_monitor_of_our_own_can_only_be_paused() -> None:
    monitor = a_monitor(kind="worker", subject="w1")

    with pytest.raises(MonitorIsOurs):
        monitors.remove(the_operator(), monitor.pk)
    with pytest.raises(MonitorIsOurs):
        monitors.change(the_operator(), monitor.pk, HOURLY)
    assert monitors.pause(the_operator(), monitor.pk).state == "paused"


def test_the_watch_by_whose_pings_all_others_are_judged_is_not_paused() -> None:
    """R34"""
    monitor = a_monitor(kind="watch", subject="watch")

    with pytest.raises(MonitorIsOurs, match="cannot be paused"):
        monitors.pause(the_operator(), monitor.pk)

    assert again(monitor).state == "new"


def test_another_address_counts_beats_anew() -> None:
    monitor = a_monitor(fence=2**63 - 1, beat_number=2**63 - 1)

    renewed = monitors.renew_code(the_operator(), monitor.pk)
    pinged(renewed)

    assert again(monitor).state == "up"


def test_only_who_may_operate_and_belongs_there_does_it() -> None:
    monitor = a_monitor()
    looker = Actor(kind="user", name="ada", tenants=frozenset([monitor.tenant_id]))
    stranger = Actor(kind="user", name="eve", permissions=frozenset(["operate"]))

    with pytest.raises(NotAllowed):
        monitors.pause(looker, monitor.pk)
    with pytest.raises(NoSuchMonitor):
        monitors.pause(stranger, monitor.pk)


def test_each_change_is_in_the_audit_and_no_address_is() -> None:
    the_tenant()
    monitor = monitors.create(the_operator(), HOURLY)
    monitors.pause(the_operator(), monitor.pk)
    monitors.resume(the_operator(), monitor.pk)
    monitors.remove(the_operator(), monitor.pk)

    told = AuditEvent.objects.filter(kind__startswith="monitor.").order_by("seq")

    assert [event.kind for event in told] == [
        "monitor.created",
        "monitor.paused",
        "monitor.resumed",
        "monitor.removed",
    ]
    assert not [event for event in told if str(monitor.code) in event.body]


@pytest.mark.parametrize(
    ("wish", "field"),
    [
        ({"name": " "}, "name"),
        ({"slug": "No Spaces"}, "slug"),
        ({"tags": ["two words"]}, "tags"),
        ({"tags": [str(n) for n in range(11)]}, "tags"),
        ({"period": None}, "period"),
        ({"period": float("nan")}, "period"),
        ({"cron": "0 2 * * *"}, "cron"),
        ({"period": None, "cron": "61 * * * *"}, "cron"),
        ({"period": None, "cron": "0 0 30 2 *"}, "cron"),
        ({"zone": "Mars/Olympus"}, "zone"),
        ({"grace": -1.0}, "grace"),
        ({"longest": float("inf")}, "longest"),
        ({"filters": Filters(fail=("error",))}, "filters"),
        ({"filters": Filters(body=True)}, "filters"),
        ({"filters": Filters(fail=("",), body=True)}, "filters"),
        ({"kind": "cat"}, "kind"),
    ],
)
def test_what_would_not_work_is_refused_with_a_sentence(wish: dict[str, Any], field: str) -> None:
    the_tenant()

    with pytest.raises(MonitorRefused) as refused:
        monitors.create(the_operator(), MonitorWish(**{"name": "A job", "period": 60.0, **wish}))

    assert set(refused.value.errors) == {field}
    assert not Monitor.objects.exists()
