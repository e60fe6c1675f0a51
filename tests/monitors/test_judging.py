"""What pings from outside is judged: absent past its grace, heard again, failed; once, whoever judges."""

from collections.abc import Iterator

import pytest
from pytest_django import Settings

from monitors.engine.judge import Judge
from monitors.ledger import judging
from monitors.ledger import monitors as by_people
from monitors.models import Blindness, Monitor, VerdictChange
from monitors.queries import watching
from monitors.rules.sayings import Said
from monitors.rules.states import PingKind, Verdict
from monitors.rules.verdicts import Breach, Judged
from runs.conf import conf
from runs.models import Message
from runs.queries.clock import db_now
from runs.queries.verify import violations
from tests.monitors.judged import MINUTE, Bench, a_bench, alerts_of, last_said, ping, said_of
from tests.monitors.pinged import a_monitor, again
from tests.support import runs
from tests.telling.builders import a_row

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _channel() -> None:
    runs.the_tenant()
    a_row("ops")


@pytest.fixture
def bench(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    with a_bench(settings, monkeypatch) as made:
        yield made


def a_pinged_monitor(**more: object) -> Monitor:
    monitor = a_monitor(**{"period": 10.0, "grace": 5.0, **more})
    ping(monitor)
    return again(monitor)


def test_absence_past_the_grace_is_one_silence_and_one_alert(bench: Bench) -> None:
    monitor = a_pinged_monitor()

    bench.wait(14)
    assert again(monitor).state == "late"
    bench.wait(12)

    assert said_of(monitor) == ["alive", "silent silence"]
    assert (again(monitor).state, again(monitor).verdict) == ("down", "silent")
    assert "is silent: no beat for" in last_said(monitor).sentence
    assert alerts_of(monitor) == 1
    assert violations() == []


def test_within_the_grace_nobody_is_told(bench: Bench) -> None:
    monitor = a_pinged_monitor()

    bench.wait(60, meanwhile=lambda: ping(monitor))

    assert said_of(monitor) == ["alive"]
    assert alerts_of(monitor) == 0


def test_a_ping_makes_it_alive_again_and_ends_the_alert(bench: Bench) -> None:
    monitor = a_pinged_monitor()
    bench.wait(20)

    ping(monitor)
    bench.look()

    assert said_of(monitor) == ["alive", "silent silence", "alive"]
    assert alerts_of(monitor, open_only=True) == 0
    assert again(monitor).state == "up"


def test_a_failure_by_its_own_word_is_told_at_once_and_once(bench: Bench) -> None:
    monitor = a_pinged_monitor()
    bench.look()

    ping(monitor, PingKind.FAIL)
    bench.look()
    ping(monitor, PingKind.FAIL)
    bench.wait(20)

    assert said_of(monitor) == ["alive", "alive failed"]
    assert last_said(monitor).sentence == "Nightly backup reported a failure."
    assert (again(monitor).state, alerts_of(monitor)) == ("down", 1)


def test_who_began_and_does_not_end_takes_too_long(bench: Bench) -> None:
    monitor = a_pinged_monitor(period=3600.0, longest=8.0)
    ping(monitor, PingKind.START)

    bench.wait(12)

    assert said_of(monitor) == ["alive", "silent too_long"]


def test_silence_is_believed_only_after_an_own_ping_came_through(bench: Bench) -> None:
    """R34"""
    monitor = a_pinged_monitor()
    bench.wait(8)
    bench.own_pings = False

    bench.wait(8)

    assert said_of(monitor) == ["alive"]


def test_pages_that_take_no_pings_are_one_blindness_and_no_silence(bench: Bench) -> None:
    """R25, R31, R34"""
    watched = [a_pinged_monitor() for _ in range(5)]
    bench.own_pings = False

    bench.wait(60)

    assert {tuple(said_of(each)) for each in watched} == {("alive",)}
    watch = Monitor.objects.get(kind="watch")
    assert watch.verdict == "blind"
    assert last_said(watch).sentence.startswith("Blind since")
    bench.own_pings = True
    bench.wait(12)
    assert {tuple(said_of(each)) for each in watched} == {("alive",)}
    gap = Blindness.objects.get()
    assert not gap.open
    assert f"Blind from {gap.from_at:%Y-%m-%d %H:%M:%S}" in last_said(watch).sentence
    bench.wait(6)
    assert {said_of(each)[-1] for each in watched} == {"silent silence"}
    assert violations() == []


def test_pages_that_never_took_a_ping_are_told_of(bench: Bench) -> None:
    """R34: under a wrong SITE_URL nobody would ever be called silent, and nobody be told."""
    Monitor.objects.filter(kind="watch").update(last_ping_at=None, state="new", created_at=db_now())
    bench.own_pings = False
    bench.judge = Judge()

    bench.wait(50)
    assert Blindness.objects.count() == 0
    bench.wait(20)

    assert Blindness.objects.get().open
    assert alerts_of(Monitor.objects.get(kind="watch")) == 0
    assert Message.objects.filter(kind="alert").count() == 1
    bench.own_pings = True
    bench.wait(4)
    assert not Blindness.objects.get().open
    assert violations() == []


def test_under_another_secret_key_our_own_monitors_are_heard_again(
    bench: Bench, settings: Settings
) -> None:
    settings.SECRET_KEY = "another key of this installation, long enough"
    conf.cache_clear()
    bench.judge = Judge()

    bench.wait(20)

    assert Blindness.objects.count() == 0
    assert Monitor.objects.get(kind="watch").verdict == "alive"


def test_a_watch_that_was_away_for_an_hour_calls_none_of_a_thousand_silent(bench: Bench) -> None:
    """R25: one notice says from when until when; who is really gone is told of a period later."""
    now = db_now()
    alive = [
        a_monitor(
            name=f"job {number}",
            period=60.0,
            grace=30.0,
            state="up",
            verdict="alive",
            last_ping_at=now,
            expected_at=now + MINUTE,
            alert_at=now + MINUTE * 1.5,
            judge_at=now + MINUTE,
        )
        for number in range(1000)
    ]
    gone = alive[0]

    bench.jump(3600)
    bench.judge = Judge()
    for _ in range(8):
        bench.look()

    assert VerdictChange.objects.filter(monitor__in=alive).count() == 0
    notices = Message.objects.filter(kind="blind")
    assert notices.count() == 1
    assert "Blind from" in notices.get().payload
    assert "1 h" in notices.get().payload
    Monitor.objects.exclude(pk=gone.pk).filter(kind="outside").update(
        last_ping_at=db_now(), expected_at=db_now() + MINUTE * 10,
        alert_at=db_now() + MINUTE * 20, judge_at=db_now() + MINUTE * 10,
    )  # fmt: skip
    bench.wait(92)
    assert said_of(gone) == ["silent silence"]
    assert VerdictChange.objects.filter(monitor__kind="outside").count() == 1


def test_a_gap_before_it_was_expected_does_not_hide_that_it_never_came(bench: Bench) -> None:
    monitor = a_pinged_monitor(period=3600.0)

    bench.jump(3590)
    bench.look()
    bench.wait(20)

    assert said_of(monitor) == ["alive", "silent silence"]


def test_a_start_that_came_first_is_not_forgotten_by_the_judge(bench: Bench) -> None:
    """Its end is due soon, and whoever looked before it began must not put that off."""
    monitor = a_pinged_monitor(period=3600.0, longest=8.0)
    bench.look()
    seen = watching.again(monitor.pk)
    assert seen is not None
    ping(monitor, PingKind.START)

    written = judging.look_later(seen, at=None, alert_at=seen.alert_at, late=False, now=db_now())

    assert not written
    bench.wait(12)
    assert said_of(monitor) == ["alive", "silent too_long"]


def test_two_judges_judge_once(bench: Bench) -> None:
    """R34: the second finds another `seq`, and writes nothing."""
    monitor = a_pinged_monitor()
    bench.look()
    seen = watching.again(monitor.pk)
    assert seen is not None
    made = judging.Verdicts(
        judged=Judged(verdict=Verdict.SILENT, breach=Breach.SILENCE, since=db_now()),
        said=Said(sentence="Silent.", advice="Look."),
        facts="{}",
        look_at=None,
    )

    first = judging.change(seen, made, now=db_now())
    second = judging.change(seen, made, now=db_now())

    assert (first, second) == (True, False)
    assert said_of(monitor) == ["alive", "silent silence"]
    assert alerts_of(monitor) == 1


def test_a_ping_that_came_first_wins_over_the_judge(bench: Bench) -> None:
    monitor = a_pinged_monitor()
    bench.look()
    seen = watching.again(monitor.pk)
    assert seen is not None
    bench.jump(1)
    ping(monitor)

    made = judging.Verdicts(
        judged=Judged(verdict=Verdict.SILENT, breach=Breach.SILENCE, since=db_now()),
        said=Said(sentence="Silent.", advice="Look."),
        facts="{}",
        look_at=None,
    )

    assert not judging.change(seen, made, now=db_now())
    assert alerts_of(monitor) == 0


@pytest.mark.parametrize("act", [by_people.pause, by_people.remove])
def test_what_a_person_pauses_or_removes_is_wrong_no_more(bench: Bench, act: object) -> None:
    monitor = a_pinged_monitor()
    bench.wait(20)
    assert alerts_of(monitor, open_only=True) == 1

    act(runs.the_operator(), monitor.pk)  # type: ignore[operator]
    bench.look()

    assert alerts_of(monitor, open_only=True) == 0
    assert violations() == []


def test_a_pause_ends_when_its_time_has_come(bench: Bench) -> None:
    monitor = a_pinged_monitor()
    by_people.pause(runs.the_operator(), monitor.pk, until=db_now() + MINUTE)

    bench.wait(50)
    assert again(monitor).state == "paused"
    bench.wait(14)

    assert again(monitor).state in ("up", "late")
    assert alerts_of(monitor) == 0
