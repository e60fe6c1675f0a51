"""Where its workflow says so, a deadline that is over asks a person: raise it, or stop."""

import time
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from runs.definition import Workflow, registry, step
from runs.engine.clockwork import Clockwork
from runs.ledger.limits import DeadlineTooShort
from runs.models import AuditEvent, Run
from runs.queries.clock import db_now
from runs.queries.limits import breaches_of, deadline_of
from runs.queries.verify import violations
from tests.support import runs

pytestmark = pytest.mark.django_db(transaction=True)
HOUR, MONTHS = timedelta(hours=1), timedelta(days=90)


@pytest.fixture(autouse=True)
def _workflows() -> Iterator[None]:
    with registry.isolated():
        yield


def an_errand(*, waits: bool = False) -> type[Workflow]:
    class Errand(Workflow):
        name, version = "errand", 1
        deadline, on_deadline = HOUR, "ask"

        @step(writes=["first"])
        def begin(self, run: Any) -> None:
            run.write("first", 1)

        @step(writes=["second"])
        def go(self, run: Any) -> None:
            if waits:
                run.wait_for("news", correlation_id="a", on_expiry="stay")
            elif run.attempt == 1:
                time.sleep(600)
            run.write("second", 2)

    return Errand


def months_ago(run_id: UUID) -> None:
    Run.objects.filter(pk=run_id).update(created_at=db_now() - MONTHS)


def interrupted() -> UUID:
    run_id = runs.a_run(an_errand())
    runs.take_the_first_step(run_id)
    Run.objects.filter(pk=run_id).update(created_at=db_now() - (HOUR - timedelta(seconds=0.1)))
    runs.drain()
    return run_id


def test_a_body_is_interrupted_and_the_run_asks_while_no_worker_is_held() -> None:
    run_id = interrupted()

    asked = runs.asked_of(runs.open_wait(run_id))

    assert (runs.state_of(run_id), asked["kind"]) == ("waiting", "limit")
    assert asked["question"] == "The deadline of this run is over: 1 h of 1 h used. Raise it?"
    assert [each["key"] for each in asked["options"]] == ["raise", "stop", "cancel"]
    assert "then: waiting" in breaches_of(run_id)[0].sentence.lower()
    assert violations([run_id]) == []


def test_raised_it_goes_on_where_it_stood_and_the_time_of_asking_does_not_count() -> None:
    run_id = interrupted()
    used = deadline_of(run_id)

    runs.answer(run_id, "raise", fields={"hours": 2})
    runs.drain()

    assert runs.state_of(run_id) == "succeeded"
    assert runs.the_step(run_id, "begin").attempt == 1
    assert AuditEvent.objects.filter(run_id=run_id, kind="deadline.raised").count() == 1
    standing = deadline_of(run_id)
    assert used is not None
    assert standing is not None
    assert standing.allowed == timedelta(hours=2)
    assert violations([run_id]) == []


def test_what_is_no_longer_deadline_is_refused_and_it_goes_on_asking() -> None:
    run_id = interrupted()

    with pytest.raises(DeadlineTooShort):
        runs.answer(run_id, "raise", fields={"hours": 0.001})

    assert runs.open_wait(run_id).kind == "decision"


def test_stopped_it_is_failed_and_open_to_be_resumed() -> None:
    run_id = interrupted()

    runs.answer(run_id, "stop")

    assert runs.state_of(run_id) == "failed"
    assert violations([run_id]) == []


def test_the_clock_asks_for_what_nobody_holds_and_the_event_is_waited_for_again() -> None:
    run_id = runs.a_run(an_errand(waits=True))
    runs.drain()
    months_ago(run_id)

    Clockwork().go_round()
    runs.answer(run_id, "raise", fields={"hours": 24 * 91})
    runs.drain()
    runs.deliver("news", "a", {})
    runs.drain()

    assert runs.state_of(run_id) == "succeeded"
    assert violations([run_id]) == []
