"""A judge dies behind each of the statements with which it writes a silence, and no alert is lost (I15)."""

import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection, connections
from pytest_django import Settings

from monitors.engine.judge import Judge
from monitors.models import Incident, VerdictChange
from runs.models import Message
from runs.queries.verify import violations
from tests.monitors.judged import Bench, a_bench, alerts_of, ping, said_of
from tests.monitors.pinged import a_monitor, again
from tests.support import runs
from tests.telling.builders import a_row

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.processes]

MOST = 40


@pytest.fixture
def bench(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    runs.the_tenant()
    a_row("ops")
    with a_bench(settings, monkeypatch) as made:
        yield made


class Fatal:
    """Dies behind the n-th statement that follows the change of a verdict."""

    def __init__(self, at: int) -> None:
        self.left, self.counting = at, False

    def __call__(self, execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        self.counting = self.counting or (
            sql.startswith("UPDATE") and "monitors_monitor" in sql and "verdict_since" in sql
        )
        answer = execute(sql, params, many, context)
        if self.counting:
            self.left -= 1
            if self.left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
        return answer


def judged_by_one_that_dies(at: int) -> bool:
    """Whether it died: it is a child with a connection of its own, behind its n-th statement."""
    connections.close_all()
    child = os.fork()
    if child == 0:
        try:
            with connection.execute_wrapper(Fatal(at)):
                Judge().go_round()
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def test_behind_each_statement_of_a_silence(bench: Bench) -> None:
    """The next judge writes it once, with one alert, one incident, and a message of the same id."""
    keys, statement = set(), 0
    while True:
        statement += 1
        monitor = a_monitor(name=f"job {statement}", period=10.0, grace=1.0)
        ping(monitor)
        bench.wait(10)
        assert said_of(monitor) == ["alive"]
        bench.jump(2)
        bench.pulse()
        died = judged_by_one_that_dies(statement)
        bench.look()

        assert said_of(monitor) == ["alive", "silent silence"], statement
        assert alerts_of(monitor) == 1
        incident = Incident.objects.get(alerts__monitor=monitor)
        told = Message.objects.filter(dedup_key__startswith=f"incident:{incident.pk}:1 ")
        assert told.count() == 1
        keys.add(told.get().dedup_key)
        ping(monitor)
        bench.look()
        assert again(monitor).state == "up"
        monitor.delete()
        if not died:
            break
        assert statement < MOST

    assert statement > 8
    assert len(keys) == statement
    assert violations() == []
    assert VerdictChange.objects.exclude(monitor__kind__in=("watch", "outside")).count() == 0
