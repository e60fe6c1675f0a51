"""A schedule is due while its run before is in each state: the table of policies, whole."""

from datetime import timedelta
from uuid import UUID

import pytest

from runs.engine.clockwork import Clockwork
from runs.engine.worker import known_plans
from runs.ledger import assignments, firings, lifecycle, pausing, takeover
from runs.models import AuditEvent, Call, Firing, Run, Schedule, Worker
from runs.queries.clock import db_now
from runs.queries.verify import violations
from runs.rules.overlap import TABLE, Act, Overlap, Standing, decide
from tests.durability.fences import a_worker_row
from tests.schedules.builders import a_schedule, fire, let_it_be_due, the_firing
from tests.support import runs

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("_known")]

STATES = ("queued", "running", "waiting", "paused", "zombie", "failed", "succeeded", "cancelled")
OVER = ("failed", "succeeded", "cancelled")
EXPECTED = {
    "concurrent": dict.fromkeys(STATES, "started"),
    "skip": {state: "started" if state in OVER else "skipped" for state in STATES},
    "replace": {state: "started" if state in OVER else "replaced" for state in STATES},
    "queue_one": {state: "started" if state in OVER else "queued" for state in STATES},
}


def claimed() -> UUID:
    """Somebody takes the placed run and is in its step."""
    worker = a_worker_row()
    got = assignments.claim(worker_id=worker, plans=known_plans())
    assert got is not None
    return worker


def a_call_in_doubt(run_id: UUID) -> None:
    run = Run.objects.get(pk=run_id)
    Call.objects.create(
        run=run,
        step=run.step,
        scope=run.step,
        effect="shop.sell",
        resource="book",
        key="mp_tests",
        request="{}",
        request_digest="0" * 64,
        irreversible=False,
        state="ambiguous",
        intended_at=db_now(),
        sent_at=db_now(),
        fence=run.fence,
    )


def a_run_before(schedule: Schedule, state: str) -> UUID:
    """The schedule's first run, brought into this state."""
    let_it_be_due(schedule, ago=timedelta(seconds=30))
    assert fire() == 1
    run_id = the_firing(schedule).run_id
    assert run_id is not None
    if state == "paused":
        pausing.pause(runs.the_operator(), run_id, because="tests")
    elif state in ("running", "zombie"):
        worker = claimed()
        if state == "zombie":
            over = db_now() - timedelta(seconds=1)
            Worker.objects.filter(pk=worker).update(lease_until=over, host="elsewhere")
    elif state == "cancelled":
        lifecycle.cancel(runs.the_operator(), run_id, because="tests")
    elif state != "queued":
        runs.drain()
        if state == "succeeded":
            runs.answer(run_id, "yes")
            runs.drain()
    if state == "failed":
        Run.objects.filter(pk=run_id).update(state="failed")
    shown = "running" if state == "zombie" else state
    assert runs.state_of(run_id) == shown
    return run_id


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("overlap", list(Overlap))
def test_what_becomes_of_a_time_while_the_run_before_is(overlap: Overlap, state: str) -> None:
    schedule = a_schedule(overlap=overlap.value)
    old = a_run_before(schedule, state)

    let_it_be_due(schedule)
    assert fire() == 1

    firing = the_firing(schedule)
    assert firing.state == EXPECTED[overlap.value][state]
    assert Firing.objects.filter(schedule=schedule).count() == 2
    assert (firing.run_id is not None) == (firing.state in ("started", "replaced"))
    if firing.state != "started":
        assert firing.reason.startswith("run nightly ")
    if state != "failed":
        assert violations() == []
    if overlap is not Overlap.REPLACE and state not in ("succeeded", "cancelled", "failed"):
        assert runs.state_of(old) == ("running" if state == "zombie" else state)


def test_the_rule_answers_for_every_policy_and_standing() -> None:
    for overlap in Overlap:
        for standing in Standing:
            decided = decide(overlap, standing, named="a")
            assert decided.act is TABLE[overlap][standing]
            assert decided.reason or decided.act is Act.START
    assert decide(Overlap.QUEUE_ONE, Standing.RUNNING, one_is_queued=True).act is Act.SKIP
    assert decide(Overlap.REPLACE, Standing.WAITING, in_doubt=True).act is Act.SKIP


@pytest.mark.parametrize("state", ["queued", "waiting", "paused"])
def test_what_nobody_holds_is_superseded_at_once(state: str) -> None:
    schedule = a_schedule(overlap="replace")
    old = a_run_before(schedule, state)
    let_it_be_due(schedule)

    fire()

    new = the_firing(schedule).run
    assert new is not None
    assert (runs.state_of(old), new.state, new.restart_of_id) == ("superseded", "queued", old)
    assert new.start_key
    assert new.labels == {"schedule": "nightly"}


@pytest.mark.parametrize("state", ["running", "zombie"])
def test_a_replacing_run_begins_only_when_the_old_one_is_fenced(state: str) -> None:
    """R17"""
    schedule = a_schedule(overlap="replace")
    old = a_run_before(schedule, state)
    worker = Run.objects.get(pk=old).worker_id
    let_it_be_due(schedule)

    fire()

    new = the_firing(schedule).run_id
    assert new is not None
    assert worker is not None
    assert (runs.state_of(old), runs.state_of(new)) == ("running", "waiting")
    fence = Run.objects.get(pk=old).fence
    takeover.raise_fences(worker, because="tests")
    assert runs.state_of(new) == "waiting"
    takeover.take_over(worker, because="tests")
    assert (runs.state_of(old), runs.state_of(new)) == ("superseded", "queued")
    assert Run.objects.get(pk=old).fence > fence
    assert violations() == []


def replaces_several(*states: str) -> tuple[Schedule, list[UUID], UUID]:
    """Runs of one schedule in these states, which all stand open, and the one that replaces them."""
    schedule, olds = a_schedule(overlap="concurrent"), list[UUID]()
    for number, state in enumerate(states):
        let_it_be_due(schedule, ago=timedelta(seconds=30 - number))
        fire()
        old = the_firing(schedule).run_id
        assert old is not None
        olds.append(old)
        if state == "running":
            claimed()
        elif state == "waiting":
            runs.drain()
    Schedule.objects.filter(pk=schedule.pk).update(overlap="replace")
    let_it_be_due(schedule)
    assert fire() == 1
    new = the_firing(schedule).run_id
    assert new is not None
    return schedule, olds, new


def let_go(run_id: UUID) -> None:
    worker = Run.objects.get(pk=run_id).worker_id
    assert worker is not None
    takeover.raise_fences(worker, because="tests")
    takeover.take_over(worker, because="tests")


def test_every_run_that_is_open_is_replaced_and_the_new_one_begins_behind_the_last() -> None:
    """R17"""
    schedule, (first, second, parked, idle), new = replaces_several(
        "running", "running", "waiting", "queued"
    )

    assert the_firing(schedule).state == "replaced"
    assert [runs.state_of(each) for each in (parked, idle)] == ["superseded"] * 2
    assert [runs.state_of(each) for each in (first, second, new)] == [*["running"] * 2, "waiting"]
    let_go(second)
    Clockwork().go_round()
    assert [runs.state_of(each) for each in (first, second, new)] == [
        "running",
        "superseded",
        "waiting",
    ]
    let_go(first)
    assert [runs.state_of(each) for each in (first, new)] == ["superseded", "queued"]
    assert the_firing(schedule).state == "replaced"
    assert violations() == []


@pytest.mark.parametrize("last", ["ends", "is in doubt"])
def test_of_several_the_last_may_end_by_itself_or_stay_in_doubt(last: str) -> None:
    """R5"""
    _, (first, second), new = replaces_several("running", "running")
    if last == "ends":
        let_go(second)
        over = {"state": "succeeded", "ended_at": db_now(), "worker": None}
        Run.objects.filter(pk=first).update(**over, cancel_requested=False)
        Clockwork().go_round()
    else:
        a_call_in_doubt(first)
        let_go(first)
        assert runs.state_of(new) == "waiting"
        let_go(second)
        assert "nobody knows what became" in Run.objects.get(pk=first).reason

    states = [runs.state_of(each) for each in (first, second, new)]
    assert states == ["succeeded" if last == "ends" else "paused", "superseded", "queued"]


def test_beside_one_in_doubt_nothing_begins_when_the_others_end_by_themselves() -> None:
    """R5: as when the one in doubt is the last of them"""
    schedule, (first, second), new = replaces_several("running", "running")
    a_call_in_doubt(first)
    let_go(first)
    over = {"state": "succeeded", "ended_at": db_now(), "worker": None}
    Run.objects.filter(pk=second).update(**over, cancel_requested=False)

    Clockwork().go_round()

    assert [runs.state_of(each) for each in (first, new)] == ["paused", "cancelled"]
    assert the_firing(schedule).state == "skipped"
    assert "is paused, and was not superseded" in the_firing(schedule).reason


def test_a_run_that_stands_ready_is_not_replaced_by_the_next_time() -> None:
    schedule = a_schedule(overlap="replace")
    a_run_before(schedule, "running")
    let_it_be_due(schedule, ago=timedelta(seconds=2))
    fire()

    let_it_be_due(schedule)
    fire()

    assert the_firing(schedule).state == "skipped"
    assert "stands ready" in the_firing(schedule).reason


def test_a_replaced_run_that_ends_by_itself_lets_the_new_one_begin() -> None:
    schedule = a_schedule(overlap="replace")
    old = a_run_before(schedule, "running")
    let_it_be_due(schedule)
    fire()
    firing = the_firing(schedule)
    Run.objects.filter(pk=old).update(
        state="succeeded", ended_at=db_now(), worker=None, cancel_requested=False
    )

    Clockwork().go_round()

    firing.refresh_from_db()
    assert firing.run_id is not None
    assert (firing.state, runs.state_of(firing.run_id)) == ("started", "queued")
    assert "ended as succeeded" in firing.reason


def test_a_run_with_a_call_in_doubt_is_not_replaced() -> None:
    """R5"""
    schedule = a_schedule(overlap="replace")
    old = a_run_before(schedule, "waiting")
    a_call_in_doubt(old)
    let_it_be_due(schedule)

    fire()

    assert the_firing(schedule).state == "skipped"
    assert "nobody knows what became" in the_firing(schedule).reason
    assert runs.state_of(old) == "waiting"


def test_one_firing_is_queued_and_starts_when_the_run_before_is_over() -> None:
    schedule = a_schedule(overlap="queue_one")
    old = a_run_before(schedule, "queued")
    let_it_be_due(schedule, ago=timedelta(seconds=3))
    fire()
    queued = the_firing(schedule)
    let_it_be_due(schedule)
    fire()
    assert [one.state for one in Firing.objects.order_by("nominal_at")] == [
        "started",
        "queued",
        "skipped",
    ]

    lifecycle.cancel(runs.the_operator(), old, because="tests")
    fire()

    queued.refresh_from_db()
    assert queued.state == "started"
    assert queued.run_id is not None
    assert runs.state_of(queued.run_id) == "queued"
    assert not firings.start_queued(schedule.pk)
    assert violations() == []


def test_three_times_in_vain_are_an_incident() -> None:
    schedule = a_schedule(overlap="skip")
    a_run_before(schedule, "queued")
    for second in (4, 3, 2):
        let_it_be_due(schedule, ago=timedelta(seconds=second))
        fire()

    schedule.refresh_from_db()
    assert schedule.skips == 3
    assert AuditEvent.objects.filter(kind="schedule.skip_streak").count() == 1
