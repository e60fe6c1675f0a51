"""Schedules of small workflows, and a clock that tests move."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

from django.db import connection
from pytest_django import Settings

from runs.conf import conf
from runs.definition import Heartbeat, Workflow, registry, step
from runs.engine.firing import Firing as FiringDuty
from runs.ledger import schedules
from runs.models import Firing, Schedule
from runs.queries.clock import db_now
from runs.rules.schedules import Wish
from tests.support import runs

BEATS = Heartbeat(every=timedelta(seconds=30), grace=timedelta(minutes=2))


def made() -> list[type[Workflow]]:
    with registry.isolated():

        class Sync(Workflow):
            """Ask at once, and be done."""

            name, version = "sync", 1
            heartbeat = BEATS

            class Input:
                folder: str = "/tmp"  # noqa: S108

            @step(reads=["folder"], writes=["asked"])
            def ask(self, run: Any) -> None:
                run.write("asked", run.ask("go on", question="Go on?")["option"])

        class Mute(Workflow):
            """Says nothing of a heartbeat."""

            name, version = "mute", 1

            @step(writes=["out"])
            def go(self, run: Any) -> None:
                run.write("out", 1)

    return [Sync, Mute]


def a_wish(**more: Any) -> Wish:
    given: dict[str, Any] = {"slug": "nightly", "workflow": "sync", "overlap": "skip"}
    if "every" not in more:
        given["cron"] = "0 2 * * *"
    return Wish(**{**given, **more})


def a_schedule(**more: Any) -> Schedule:
    runs.the_tenant()
    return schedules.create(runs.the_operator(), a_wish(**more))


def let_it_be_due(schedule: Schedule, *, ago: timedelta = timedelta(seconds=1)) -> datetime:
    """Its next time has just come: the nominal time that it has now."""
    nominal = db_now().replace(microsecond=0) - ago
    every = timedelta(seconds=schedule.every or 3600)
    Schedule.objects.filter(pk=schedule.pk).update(
        anchor=nominal - every,
        next_at=nominal,
        due_at=nominal,
        cron="",
        every=every.total_seconds(),
    )
    return nominal


def fire() -> int:
    """One pass of the duty that fires what is due."""
    return FiringDuty().go_round()


def firings_of(schedule: Schedule) -> list[Firing]:
    return list(Firing.objects.filter(schedule=schedule).order_by("nominal_at"))


def the_firing(schedule: Schedule) -> Firing:
    return Firing.objects.filter(schedule=schedule).latest("nominal_at")


@contextmanager
def the_time(settings: Settings, at: datetime) -> Iterator[None]:
    """The database's clock shows this time and goes on from there."""
    settings.CLOCK_OFFSET_SECONDS = 0
    conf.cache_clear()
    settings.CLOCK_OFFSET_SECONDS = (at - db_now()).total_seconds()
    conf.cache_clear()
    try:
        yield
    finally:
        settings.CLOCK_OFFSET_SECONDS = 0
        conf.cache_clear()
        assert connection.connection is None or not connection.in_atomic_block
