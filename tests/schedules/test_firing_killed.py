"""The process that fires is killed between each pair of its statements: no firing is lost, none is doubled."""

import os
import signal
import traceback
from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest
from django.db import connection, connections

from runs.ledger import firings, lifecycle
from runs.models import Firing, Run, Schedule
from runs.queries.verify import violations
from tests.schedules.builders import a_schedule, fire, let_it_be_due, the_firing
from tests.schedules.test_overlap import a_run_before
from tests.support import runs
from tests.support.waiting import eventually

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("_known"),
    pytest.mark.processes,
]
MOST_STATEMENTS = 200


def killed_behind(statement: int, act: Callable[[], object]) -> bool:
    """Do it in a process of its own, killed behind that statement; False when it came to its end."""
    # A fork must not inherit a connection: two processes would talk over each other on it.
    runs.wait_for_keepers()
    connections.close_all()
    child = os.fork()
    if child == 0:
        _act_and_die(statement, act)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0
    return os.WIFSIGNALED(status)


def _act_and_die(statement: int, act: Callable[[], object]) -> None:
    left = [statement]

    def count(execute: Callable[..., Any], *given: Any) -> Any:
        done = execute(*given)
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return done

    try:
        with connection.execute_wrapper(count):
            act()
    except BaseException:  # noqa: BLE001 - a child that fails must not go on as the test
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def starts(number: int) -> tuple[Schedule, Callable[[], object]]:
    """A time comes, and nothing stands in its way."""
    schedule = a_schedule(slug=f"starts-{number}", every=3600)
    let_it_be_due(schedule)
    return schedule, lambda: firings.fire(schedule.pk)


def replaces(number: int) -> tuple[Schedule, Callable[[], object]]:
    """The run before is in a worker's hands."""
    schedule = a_schedule(slug=f"replaces-{number}", every=3600, overlap="replace")
    a_run_before(schedule, "running")
    let_it_be_due(schedule)
    return schedule, lambda: firings.fire(schedule.pk)


def supersedes(number: int) -> tuple[Schedule, Callable[[], object]]:
    """The run before is in nobody's hands."""
    schedule = a_schedule(slug=f"supersedes-{number}", every=3600, overlap="replace")
    a_run_before(schedule, "queued")
    let_it_be_due(schedule)
    return schedule, lambda: firings.fire(schedule.pk)


def is_queued(number: int) -> tuple[Schedule, Callable[[], object]]:
    """The firing that waited has its turn."""
    schedule = a_schedule(slug=f"queued-{number}", every=3600, overlap="queue_one")
    old = a_run_before(schedule, "queued")
    let_it_be_due(schedule)
    fire()
    lifecycle.cancel(runs.the_operator(), old, because="tests")
    return schedule, lambda: firings.start_queued(schedule.pk)


def skips(number: int) -> tuple[Schedule, Callable[[], object]]:
    """The run before still goes on."""
    schedule = a_schedule(slug=f"skips-{number}", every=3600)
    a_run_before(schedule, "queued")
    let_it_be_due(schedule)
    return schedule, lambda: firings.fire(schedule.pk)


LONG = pytest.mark.long


@pytest.mark.parametrize(
    ("given", "state", "stride"),
    [
        pytest.param(starts, "started", 1, id="starts"),
        pytest.param(replaces, "replaced", 3, id="replaces, every third"),
        pytest.param(is_queued, "started", 3, id="was queued, every third"),
        pytest.param(replaces, "replaced", 1, id="replaces", marks=LONG),
        pytest.param(supersedes, "replaced", 1, id="supersedes", marks=LONG),
        pytest.param(is_queued, "started", 1, id="was queued", marks=LONG),
        pytest.param(skips, "skipped", 1, id="skips", marks=LONG),
    ],
)
def test_killed_behind_any_statement_it_is_fired_once(
    given: Callable[[int], tuple[Schedule, Callable[[], object]]], state: str, stride: int
) -> None:
    killed = 0
    for number in range(1, MOST_STATEMENTS, stride):
        schedule, act = given(number)
        nominal = the_next_or_queued(schedule)
        died = killed_behind(number, act)
        fired = fired_by_the_next(act, schedule, nominal, state=state)
        assert the_firing(schedule).pk == fired.pk
        if state != "skipped":
            key = f"schedule:{schedule.pk}:{nominal.isoformat()}"
            assert [run.pk for run in Run.objects.filter(start_key=key)] == [fired.run_id]
        assert Schedule.objects.filter(pk=schedule.pk, next_at__gt=nominal).exists()
        if not died:
            break
        killed += 1
    assert killed * stride > 8
    assert violations() == []


def fired_by_the_next(
    act: Callable[[], object], schedule: Schedule, nominal: datetime, *, state: str
) -> Firing:
    """Whoever comes next passes a schedule by until the server has seen the death of its holder."""

    def look() -> Firing | None:
        act()
        return Firing.objects.filter(schedule=schedule, nominal_at=nominal, state=state).first()

    found = eventually(look, what=f"it is {state}")
    assert found is not None
    return found


def the_next_or_queued(schedule: Schedule) -> datetime:
    queued = Firing.objects.filter(schedule=schedule, state="queued").first()
    if queued is not None:
        return queued.nominal_at
    at = Schedule.objects.get(pk=schedule.pk).next_at
    assert at is not None
    return at
