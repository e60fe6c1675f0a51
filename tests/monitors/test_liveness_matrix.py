"""What is broken is told apart: with real programs, each broken in its own way."""

import os
import signal
from collections.abc import Iterator

import pytest
from django.db import connection
from pytest_django import DjangoDbBlocker

from monitors.models import Blindness, VerdictChange
from runs.models import Worker
from runs.queries.clock import db_now
from tests.monitors.living import ALLOWED, Living, a_living_place

pytestmark = pytest.mark.processes


@pytest.fixture(scope="module")
def place(
    django_db_setup: None,
    django_db_blocker: DjangoDbBlocker,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Living]:
    with django_db_blocker.unblock(), a_living_place(tmp_path_factory.mktemp("living")) as living:
        yield living
        assert living.plant.is_sound()


@pytest.fixture(autouse=True)
def _well_before(place: Living) -> None:
    place.begin_anew()


def seconds_late(change: VerdictChange) -> float:
    """How long after the moment at which it counted it was said."""
    return (change.at - change.since).total_seconds()


def test_a_worker_that_was_killed_is_silent_and_its_run_is_not(place: Living) -> None:
    run_id, end = place.begin("outlives")
    seen = place.newest_change()
    worker = place.plant.kill_holder_of(run_id)

    change = place.until_verdict("silent", "worker", worker.pk)

    assert "is silent" in change.sentence
    assert "the database shows no sign of it either" in change.sentence
    assert "Look at the machine" in change.advice
    assert 0 <= seconds_late(change) < ALLOWED
    assert place.is_told_once("worker", worker.pk)
    end.touch()
    place.plant.until(run_id, "succeeded")
    assert [each for each in place.changes_since(seen) if "run" in each] == []


def test_a_worker_whose_way_to_the_pages_is_cut_is_cut_off_and_delivers_its_beats_later(
    place: Living,
) -> None:
    run_id, end = place.begin("gets_on")
    place.to_web.cut()

    change = place.until_verdict("cut_off", "run", run_id)

    assert "cannot reach the monitor" in change.sentence
    assert change.advice.startswith("Do not restart it: it works.")
    assert 0 <= seconds_late(change) < ALLOWED
    # Four seconds of its worker: a beat shows its own time if it was kept back for more than two.
    gone = place.rounds_of(run_id) + 40
    place.plant.eventually(lambda: place.rounds_of(run_id) >= gone, "it gets on, and beats")
    place.to_web.mend()
    place.until_verdict("alive", "run", run_id)
    monitor = place.monitor("run", run_id)
    assert monitor is not None
    kept = monitor.pings.filter(sent_at__isnull=False, suspicious="")
    place.plant.eventually(lambda: kept.count() >= 2, "what was kept back is delivered")
    assert place.is_told_once("run", run_id)
    end.touch()
    place.plant.until(run_id, "succeeded")


@pytest.mark.long
def test_a_stopped_worker_is_silent(place: Living) -> None:
    run_id, end = place.begin("gets_on")
    worker = place.plant.holder_of(run_id)
    os.kill(worker.pid, signal.SIGSTOP)

    change = place.until_verdict("silent", "worker", worker.pk)

    assert seconds_late(change) < ALLOWED
    assert place.is_told_once("worker", worker.pk)
    end.touch()
    place.plant.until(run_id, "succeeded")
    # The cluster has replaced the other one as well: whoever is missed of it is missed for one cause.
    place.everybody_is_well()
    assert place.incidents() == 1


@pytest.mark.long
def test_a_run_that_is_busy_without_progress_is_slow(place: Living) -> None:
    run_id, end = place.begin("stands_still")

    change = place.until_verdict("slow", "run", run_id)

    assert "has made no progress for" in change.sentence
    assert "Look at its step" in change.advice
    assert seconds_late(change) < ALLOWED
    assert place.is_told_once("run", run_id)
    end.touch()
    place.plant.until(run_id, "succeeded")


@pytest.mark.long
def test_a_worker_whose_way_to_the_database_is_cut_beats_and_is_slow(place: Living) -> None:
    if place.to_database is None:
        assert connection.vendor == "sqlite"
        return
    worker = Worker.objects.filter(state="live").latest("started_at")
    place.to_database.cut()

    try:
        change = place.until_verdict("slow", "worker", worker.pk)
    finally:
        place.to_database.mend()

    assert change.breach == "lease"
    assert "has not renewed its lease" in change.sentence
    assert "the database" in change.advice
    assert place.is_told_once("worker", worker.pk)


@pytest.mark.long
def test_a_watch_that_was_stopped_says_from_when_until_when_and_calls_nobody_silent(
    place: Living,
) -> None:
    run_id, end = place.begin("gets_on")
    seen, began = place.newest_change(), db_now()
    for process in place.plant.site.processes():
        if process.pid == place.watch.pid or place.watch.pid in _parents(process):
            process.suspend()
    place.plant.eventually(lambda: (db_now() - began).total_seconds() > 12, "twelve seconds pass")
    for process in place.plant.site.processes():
        process.resume()

    gap = place.plant.eventually(
        lambda: Blindness.objects.filter(until_at__gt=began).first(), "the gap is written down"
    )

    assert gap.because == "the watch was away"
    assert (gap.until_at - gap.from_at).total_seconds() > 10
    place.everybody_is_well()
    assert {each for each in place.changes_since(seen) if "watch" not in each} == set()
    end.touch()
    place.plant.until(run_id, "succeeded")


@pytest.mark.long
def test_pages_that_are_stopped_make_it_blind_not_everybody_silent(place: Living) -> None:
    run_id, end = place.begin("gets_on")
    seen = place.newest_change()
    gunicorn = [place.web.process.pid, *(each.pid for each in place.web.family())]
    for pid in gunicorn:
        os.kill(pid, signal.SIGSTOP)

    change = place.until_verdict("blind", "watch")

    assert change.sentence.startswith("Blind since")
    assert "the pages take no pings" in change.sentence
    assert "Start the pages again" in change.advice
    for pid in gunicorn:
        os.kill(pid, signal.SIGCONT)
    place.until_verdict("alive", "watch")
    place.everybody_is_well()
    assert {each for each in place.changes_since(seen) if "watch" not in each} == set()
    end.touch()
    place.plant.until(run_id, "succeeded")


def _parents(process: object) -> set[int]:
    return {each.pid for each in process.parents()}  # type: ignore[attr-defined]
