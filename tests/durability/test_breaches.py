"""Each limit that is breached is recorded: what ran into it, for how long, who was slow, and what came of it."""

import json
import time
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.core.files.storage import default_storage

from runs.definition import Contract, Effect, Retry, Workflow, registry, step
from runs.engine import stopping
from runs.engine.clockwork import Clockwork
from runs.ledger import limits, pausing, restarting, resuming, takeover, workers
from runs.models import Artifact, AuditEvent, Call, Run
from runs.queries.clock import db_now
from runs.queries.limits import breaches_of, deadline_of, may_be_over
from runs.queries.verify import violations
from tests.durability.fences import a_worker_row, claimed_by
from tests.support import runs

pytestmark = pytest.mark.django_db(transaction=True)

SLOW: dict[str, float] = {}
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
# Longer than a test may last: whoever gets past it was interrupted.
FOR_EVER = 600.0
AGAIN = Retry(attempts=3, base=timedelta(seconds=1), jitter=0)


def ask_slowly(request: dict[str, Any], *, key: str, timeout: float) -> dict[str, Any]:
    if SLOW.get("gives up"):
        raise TimeoutError("no answer")
    time.sleep(SLOW.pop("send", 0))
    return {"id": key}


slow = Effect(
    "slow.ask",
    send=ask_slowly,
    contract=Contract("The same key is asked once.", window=None),
    reversible="asking does no harm",
    timeout=timedelta(milliseconds=50),
)


@pytest.fixture(autouse=True)
def _workflows() -> Iterator[None]:
    SLOW.clear()
    with registry.isolated():
        yield


def a_body_that_takes(seconds: float, *, ends: timedelta | None = None) -> type[Workflow]:
    # Where nothing is to be interrupted, nothing is for being slow.
    within = timedelta(seconds=0.1) if seconds else MINUTE

    class Takes(Workflow):
        name, version = "takes_within" if ends else "takes", 1
        deadline = ends

        @step(writes=["first"])
        def begin(self, run: Any) -> None:
            run.write("first", 1)

        @step(writes=["second"], timeout=within, retry=AGAIN)
        def limited(self, run: Any) -> None:
            time.sleep(seconds if run.attempt == 1 else 0)
            run.write("second", 2)

    return Takes


def a_call() -> type[Workflow]:
    class Asks(Workflow):
        name, version = "asks", 1

        @step(effects=[slow], retry=AGAIN)
        def ask(self, run: Any) -> None:
            run.call(slow, resource="it", request={})

    return Asks


def a_wait(*, on_expiry: str, person: bool, ends: timedelta | None = None) -> type[Workflow]:
    class Waits(Workflow):
        name, version = "waits_within" if ends else "waits", 1
        deadline = ends

        @step(writes=["said"])
        def wait(self, run: Any) -> None:
            hour = timedelta(hours=1)
            if person:
                run.ask("ready", question="Ready?", expires=hour, on_expiry=on_expiry)
            else:
                run.wait_for("paid", correlation_id="7", expires=hour, on_expiry=on_expiry)
            run.write("said", True)

    return Waits


def breach_of(run_id: UUID) -> dict[str, Any]:
    (found,) = breaches_of(run_id)
    return found.body


def months_ago(run_id: UUID) -> None:
    """The run was started long before its deadline would allow."""
    Run.objects.filter(pk=run_id).update(created_at=db_now() - timedelta(days=90))


def test_a_step_timeout_is_the_designs_and_the_step_is_tried_again() -> None:
    run_id = runs.a_run(a_body_that_takes(FOR_EVER))

    runs.drain()

    told = breach_of(run_id)
    assert (told["limit"], told["trigger"]) == ("step timeout", "step limited")
    assert (told["cause"], told["then"], told["allowed"]) == ("design", "waiting", 0.1)
    assert 0.1 <= told["elapsed"] < FOR_EVER
    assert runs.work_through(run_id) == "succeeded"
    assert violations([run_id]) == []


@pytest.mark.parametrize("how", ["does not return", "gives up"])
def test_a_call_past_its_timeout_is_ambiguous_and_not_failed(how: str) -> None:
    """R7: whoever was not answered in time does not know; the contract lets the key leave again."""
    SLOW.update({"send": FOR_EVER} if how == "does not return" else {"gives up": 1})
    run_id = runs.a_run(a_call())

    runs.drain()

    told = breach_of(run_id)
    assert (told["limit"], told["cause"]) == ("call timeout", "dependency")
    assert told["trigger"] == "call slow.ask for it"
    assert Call.objects.get(run_id=run_id).state == "ambiguous"
    assert runs.state_of(run_id) == "waiting"
    SLOW.clear()
    assert runs.work_through(run_id) == "succeeded"
    assert (Call.objects.get(run_id=run_id).sends, violations([run_id])) == (2, [])


def test_a_person_who_does_not_answer_is_the_cause_of_an_expiry() -> None:
    run_id = runs.a_run(a_wait(on_expiry="cancel", person=True))
    runs.drain()

    runs.let_it_be_due(run_id)

    told = breach_of(run_id)
    assert (told["limit"], told["cause"], told["then"]) == ("wait expiry", "person", "cancelled")
    assert runs.state_of(run_id) == "cancelled"
    assert violations([run_id]) == []


def test_an_event_that_does_not_come_is_a_dependency() -> None:
    run_id = runs.a_run(a_wait(on_expiry="fail", person=False))
    runs.drain()

    runs.let_it_be_due(run_id)

    told = breach_of(run_id)
    assert (told["limit"], told["cause"], told["then"]) == ("wait expiry", "dependency", "failed")
    assert violations([run_id]) == []


def test_a_timer_that_is_due_breaches_nothing() -> None:
    class Naps(Workflow):
        name, version = "naps", 1

        @step(writes=["rested"])
        def nap(self, run: Any) -> None:
            run.sleep("nap", timedelta(hours=1))
            run.write("rested", True)

    run_id = runs.a_run(Naps)
    assert runs.work_through(run_id) == "succeeded"
    assert breaches_of(run_id) == []


def test_a_used_up_crash_budget_is_recorded_once() -> None:
    run_id = runs.a_run(a_body_that_takes(0))
    for _ in range(3):
        worker_id = a_worker_row()
        claimed_by(worker_id, run_id)
        workers.declare_lost(worker_id, because="tests", only_if_expired=False)
        takeover.take_over(worker_id, because="its process is gone")

    told = breach_of(run_id)
    assert (told["limit"], told["elapsed"], told["allowed"]) == ("crash budget", 3, 3)
    assert (told["cause"], told["then"]) == ("design", "waiting")
    assert "3 crashes of 3 crashes allowed" in breaches_of(run_id)[0].sentence
    assert violations([run_id]) == []


def test_a_body_is_interrupted_at_the_deadline_and_what_was_done_is_kept_as_a_file() -> None:
    run_id = runs.a_run(a_body_that_takes(FOR_EVER, ends=HOUR))
    runs.take_the_first_step(run_id)
    Run.objects.filter(pk=run_id).update(created_at=db_now() - (HOUR - timedelta(seconds=0.05)))

    runs.drain()

    run = runs.the_run(run_id)
    assert run.state == "failed"
    assert run.reason.startswith("Its deadline is over: 1 h of 1 h used.")
    told = breach_of(run_id)
    assert (told["limit"], told["cause"], told["then"]) == ("run deadline", "design", "failed")
    kept = Artifact.objects.get(run_id=run_id)
    with default_storage.open(kept.path) as file:
        progress = json.load(file)
    states = [(each["key"], each["state"]) for each in progress["steps"]]
    assert states == [("begin", "succeeded"), ("limited", "running")]
    assert progress["checkpoint"]["number"] == 1
    assert kept.name in run.reason
    assert violations([run_id]) == []


def test_with_a_longer_deadline_it_goes_on_where_it_was_stopped() -> None:
    run_id = runs.a_run(a_body_that_takes(0, ends=HOUR))
    months_ago(run_id)
    runs.drain()
    assert runs.state_of(run_id) == "failed"

    with pytest.raises(limits.DeadlineTooShort):
        resuming.resume(runs.the_operator(), run_id, deadline=timedelta(hours=2))
    resuming.resume(runs.the_operator(), run_id, deadline=timedelta(days=91))
    runs.drain()

    assert runs.state_of(run_id) == "succeeded"
    assert AuditEvent.objects.filter(run_id=run_id, kind="deadline.raised").count() == 1
    assert violations([run_id]) == []


def test_the_clock_stops_what_nobody_holds_and_the_wait_is_opened_again_afterwards() -> None:
    run_id = runs.a_run(a_wait(on_expiry="stay", person=False, ends=HOUR))
    runs.drain()
    months_ago(run_id)

    works = Clockwork()
    works.go_round()

    assert runs.state_of(run_id) == "failed"
    assert breach_of(run_id)["limit"] == "run deadline"
    assert violations([run_id]) == []
    resuming.resume(runs.the_operator(), run_id, deadline=timedelta(days=91))
    runs.drain()
    assert runs.open_wait(run_id).event_name == "paid"
    runs.deliver("paid", "7", {"sum": 1})
    runs.drain()
    assert runs.state_of(run_id) == "succeeded"
    assert violations([run_id]) == []


def test_time_spent_waiting_for_people_or_paused_does_not_count() -> None:
    """R9"""
    asks = runs.a_run(a_wait(on_expiry="stay", person=True, ends=HOUR))
    runs.drain()
    stands = runs.a_run(a_body_that_takes(0, ends=HOUR))
    pausing.pause(runs.the_operator(), stands, because="not today")
    for run_id in (asks, stands):
        ago = timedelta(days=90)
        Run.objects.filter(pk=run_id).update(created_at=db_now() - ago)
    runs.open_wait(asks)
    _it_has_lasted(asks, stands, ago=timedelta(days=90) - timedelta(seconds=5))

    Clockwork().go_round()

    for run_id in (asks, stands):
        standing = deadline_of(run_id)
        assert standing is not None
        assert 4 < standing.used.total_seconds() < 60
    assert (runs.state_of(asks), runs.state_of(stands)) == ("waiting", "paused")
    runs.answer(asks, "yes")
    resuming.resume(runs.the_operator(), stands)
    runs.drain()
    assert (runs.state_of(asks), runs.state_of(stands)) == ("succeeded", "succeeded")


def _it_has_lasted(asks: UUID, stands: UUID, *, ago: timedelta) -> None:
    from django.db import connection

    wait = runs.open_wait(asks)
    wait.opened_at = db_now() - ago
    wait.save()
    # An event's time is under its hash: for this one test the guard looks away.
    runs.without_guards()
    AuditEvent.objects.filter(run_id=stands, kind="run.paused").update(at=db_now() - ago)
    runs.with_guards()
    connection.close()


def test_a_run_without_a_deadline_has_none_to_raise() -> None:
    run_id = runs.a_run(a_body_that_takes(0))
    assert deadline_of(run_id) is None
    pausing.pause(runs.the_operator(), run_id, because="tests")

    with pytest.raises(limits.NoDeadline):
        resuming.resume(runs.the_operator(), run_id, deadline=timedelta(hours=2))

    assert runs.state_of(run_id) == "paused"


def test_a_run_that_has_not_begun_in_another_one_s_place_is_not_stopped_before_it_does() -> None:
    """R5: failed, it could be resumed while the old run's worker is still at it."""
    old = runs.a_run(a_body_that_takes(0, ends=HOUR))
    claimed_by(a_worker_row(), old)
    new = restarting.restart(runs.the_operator(), old, because="tests").id
    months_ago(new)

    assert may_be_over() == []
    assert not stopping.stop_unheld(new)

    assert runs.state_of(new) == "waiting"


def test_a_pause_that_is_asked_for_is_over_when_the_deadline_stops_the_run() -> None:
    class Lingers(Workflow):
        name, version, deadline = "lingers", 1, HOUR

        @step(writes=["done"])
        def linger(self, run: Any) -> None:
            pausing.pause(runs.the_operator(), run.id, because="tests")
            time.sleep(FOR_EVER)

    run_id = runs.a_run(Lingers)
    Run.objects.filter(pk=run_id).update(created_at=db_now() - (HOUR - timedelta(seconds=0.5)))

    runs.drain()

    assert (runs.state_of(run_id), runs.the_run(run_id).pause_requested) == ("failed", False)


def test_a_deadline_is_only_made_longer() -> None:
    """The clock looks at no run before its plan's deadline, so a shorter one would not hold."""
    run_id = runs.a_run(a_body_that_takes(0, ends=HOUR))
    pausing.pause(runs.the_operator(), run_id, because="tests")

    with pytest.raises(limits.DeadlineTooShort, match="has 1 h already"):
        resuming.resume(runs.the_operator(), run_id, deadline=HOUR / 2)

    assert runs.state_of(run_id) == "paused"
