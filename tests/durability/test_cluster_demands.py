"""The cluster refuses settings under which django-q2 would run steps twice or keep a record of its own."""

import os
import subprocess
import sys
from typing import Any

import pytest
from django.conf import settings
from django.core.checks import run_checks
from django.test import override_settings
from django_q.conf import Conf

from runs.dispatch import drain, groups
from runs.dispatch.backlog import FROZEN_AFTER, LOOK, RING_AFTER, Silence
from runs.dispatch.demands import unmet
from tests.support.waiting import eventually

pytestmark = pytest.mark.one_database
SLEEP = [sys.executable, "-c", "import time; time.sleep(60)"]


def test_the_sites_own_settings_will_do() -> None:
    assert unmet() == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("QUEUE_LIMIT", 4),
        ("BULK", 10),
        ("SAVE_LIMIT", 250),
        ("SCHEDULER", True),
        ("SYNC", True),
        ("RECYCLE", 0),
        ("TIMEOUT", 60),
        ("TIMEOUT", None),
        ("RETRY", 3600),
        ("BROKER_CLASS", None),
    ],
)
def test_each_setting_that_would_do_harm_is_named(
    monkeypatch: pytest.MonkeyPatch, name: str, value: Any
) -> None:
    monkeypatch.setattr(Conf, name, value)

    assert any(sentence.startswith(f"Q_CLUSTER: {name.lower()} ") for sentence in unmet())


def test_check_says_so_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Conf, "SAVE_LIMIT", 250)

    assert [problem.id for problem in run_checks(tags=["queue"])] == ["runs.E024"]


def test_the_admin_that_could_put_old_work_back_is_refused() -> None:
    with override_settings(INSTALLED_APPS=[*settings.INSTALLED_APPS, "django.contrib.admin"]):
        assert any("django.contrib.admin" in sentence for sentence in unmet())


def test_a_request_to_drain_is_seen_until_it_is_taken_back() -> None:
    drain.request()
    requested = drain.requested()
    drain.withdraw()

    assert requested
    assert not drain.requested()


def test_silence_first_asks_for_a_ring_and_then_means_frozen() -> None:
    silence = Silence()

    _looks(silence, seconds=RING_AFTER)
    wants_a_ring = silence.wants_a_ring
    _looks(silence, seconds=FROZEN_AFTER - RING_AFTER)

    assert wants_a_ring
    assert silence.is_frozen
    assert FROZEN_AFTER + 2 * LOOK < 5, "a frozen cluster is noticed within five seconds"


@pytest.mark.parametrize(
    "heard",
    [{"waiting": False}, {"idle": False}, {"answered": 1.0}],
    ids=lambda said: next(iter(said)),
)
def test_no_work_no_idle_worker_or_an_answer_ends_the_silence(heard: dict[str, Any]) -> None:
    silence = Silence()
    _looks(silence, seconds=FROZEN_AFTER - 0.5)

    silence.look(**{"waiting": True, "idle": True, "answered": 0.0, "passed": 0.25, **heard})

    assert silence.lasted == 0


@pytest.mark.parametrize("passed", [1.0, 3600.0])
def test_who_could_not_look_meanwhile_does_not_take_it_for_silence(passed: float) -> None:
    """On a machine that stands still, or has too much to do, the workers had no time either."""
    silence = Silence()

    for _ in range(4):
        silence.look(waiting=True, idle=True, answered=0.0, passed=passed)

    assert not silence.is_frozen


def test_what_a_dead_worker_left_is_swept_and_what_a_living_one_has_is_not() -> None:
    dead = subprocess.Popen(SLEEP, start_new_session=True)
    who = groups.identity_of(dead.pid)
    me = groups.identity_of(os.getpid())
    assert who is not None
    assert me is not None
    environments = [{**os.environ, groups.MARK: one.mark} for one in (who, me)]
    orphan, child = (
        subprocess.Popen(SLEEP, env=environment, start_new_session=True)
        for environment in environments
    )
    eventually(lambda: groups._mark_of(orphan.pid) and groups._mark_of(child.pid))
    dead.kill()
    dead.wait()

    groups.sweep()

    assert orphan.wait(timeout=60) == -9
    assert child.poll() is None
    child.kill()
    child.wait()


def test_a_later_process_with_the_same_number_is_somebody_else() -> None:
    me = groups.identity_of(os.getpid())
    assert me is not None

    assert groups.alive(me)
    assert not groups.alive(groups.Identity(pid=me.pid, started=me.started - 1))


def _looks(silence: Silence, *, seconds: float) -> None:
    for _ in range(int(seconds / 0.25)):
        silence.look(waiting=True, idle=True, answered=0.0, passed=0.25)
