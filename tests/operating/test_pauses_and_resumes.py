"""Pause, resume, cancel: what each does to a run in each of its ways to stand."""

import pytest

from runs.conf import CRASH_BUDGET
from runs.ledger import lifecycle, pausing, resuming, takeover, waking
from runs.ledger.transitions import RunChanged
from runs.models import Assignment, AuditEvent, Run, Wait
from runs.queries.verbs import seen_as
from runs.queries.verify import violations
from runs.rules.verbs import NotNow
from tests.durability.fences import a_held_run, a_worker_row, claimed_by
from tests.operating.workflows import kinds_of
from tests.support import runs

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("_moves")]


def test_a_failed_run_goes_on_at_its_first_incomplete_step() -> None:
    run_id = runs.a_run("stumbles", {"mend": 1})
    runs.drain()
    assert runs.state_of(run_id) == "failed"

    resumed = resuming.resume(runs.the_operator(), run_id, because="the printer has paper")
    runs.drain()

    assert (resumed.state, resumed.step, resumed.kept.steps) == ("queued", "print", 1)
    assert runs.state_of(run_id) == "succeeded"
    assert runs.the_step(run_id, "count").attempt == 1
    assert violations([run_id]) == []


def test_a_resume_is_recorded_with_who_why_and_what_is_kept() -> None:
    run_id = runs.a_run("stumbles", {"mend": 1})
    runs.drain()

    resuming.resume(runs.the_operator(), run_id, because="the printer has paper")

    event = AuditEvent.objects.get(run=run_id, kind="run.resumed")
    assert event.actor == "tests"
    assert '"because":"the printer has paper"' in event.body
    assert '"kept":{"keys":0,"steps":1}' in event.body


def test_a_run_that_was_resumed_is_placed_once() -> None:
    run_id = runs.a_run("stumbles", {"mend": 1})
    runs.drain()
    resuming.resume(runs.the_operator(), run_id)

    with pytest.raises(NotNow, match="queued already"):
        resuming.resume(runs.the_operator(), run_id)

    assert Assignment.objects.filter(run=run_id, state="placed").count() == 1


def test_a_queued_run_is_paused_at_once_and_goes_on_when_it_is_resumed() -> None:
    run_id = runs.a_run("stumbles", {"mend": 0})

    assert pausing.pause(runs.the_operator(), run_id, because="not now") == "paused"
    runs.drain()

    assert runs.state_of(run_id) == "paused"
    assert violations([run_id]) == []
    assert resuming.resume(runs.the_operator(), run_id).state == "queued"
    runs.drain()
    assert runs.state_of(run_id) == "succeeded"


def test_a_paused_run_waits_again_when_its_wait_is_still_open() -> None:
    run_id = runs.a_run("asks")
    runs.drain()

    pausing.pause(runs.the_operator(), run_id, because="not now")
    assert violations([run_id]) == []

    assert resuming.resume(runs.the_operator(), run_id).state == "waiting"
    runs.answer(run_id, "yes")
    runs.drain()
    assert runs.state_of(run_id) == "succeeded"


def test_an_answer_to_a_paused_run_is_kept_and_the_run_stays_paused() -> None:
    run_id = runs.a_run("asks")
    runs.drain()
    pausing.pause(runs.the_operator(), run_id, because="not now")

    runs.answer(run_id, "yes")
    runs.drain()

    assert runs.state_of(run_id) == "paused"
    assert violations([run_id]) == []
    assert resuming.resume(runs.the_operator(), run_id).state == "queued"
    runs.drain()
    assert runs.facts_of(run_id) == {"answer": "yes"}


def test_an_answer_that_ends_the_run_ends_a_paused_one_at_once() -> None:
    run_id = runs.a_run("gives_up")
    runs.work_through(run_id)
    pausing.pause(runs.the_operator(), run_id, because="not now")

    runs.answer(run_id, "stop")

    assert runs.state_of(run_id) == "failed"
    assert violations([run_id]) == []


def test_an_event_that_comes_for_a_paused_run_is_kept_for_it() -> None:
    run_id = runs.a_run("listens")
    runs.drain()
    pausing.pause(runs.the_operator(), run_id, because="not now")

    assert runs.deliver("order.paid", "7", {"amount": 3}) == "used"
    assert runs.state_of(run_id) == "paused"

    resuming.resume(runs.the_operator(), run_id)
    runs.drain()
    assert runs.facts_of(run_id) == {"payload": {"amount": 3}}


def test_the_clock_of_a_wait_stands_while_its_run_is_paused() -> None:
    run_id = runs.a_run("listens")
    runs.drain()
    pausing.pause(runs.the_operator(), run_id, because="not now")
    wait = runs.open_wait(run_id)

    runs.let_it_be_due(run_id)

    assert not waking.expire(wait.pk)
    assert (runs.state_of(run_id), runs.open_wait(run_id).pk) == ("paused", wait.pk)


def test_a_resumed_wait_has_as_much_time_left_as_when_it_was_paused() -> None:
    run_id = runs.a_run("listens")
    runs.drain()
    before = runs.open_wait(run_id).due_at
    pausing.pause(runs.the_operator(), run_id, because="not now")
    paused_at = runs.the_run(run_id).paused_at

    resuming.resume(runs.the_operator(), run_id)

    run = runs.the_run(run_id)
    assert before is not None
    assert paused_at is not None
    assert runs.open_wait(run_id).due_at == before + (run.updated_at - paused_at)
    assert run.paused_at is None


def test_what_ended_a_run_is_asked_anew_when_it_is_resumed() -> None:
    run_id = runs.a_run("listens")
    runs.drain()
    runs.let_it_be_due(run_id)
    assert runs.state_of(run_id) == "failed"

    resumed = resuming.resume(runs.the_operator(), run_id, because="it was late")
    runs.drain()

    assert resumed.asks_anew == ["event order.paid 7"]
    assert runs.state_of(run_id) == "waiting"
    assert Wait.objects.filter(run=run_id).count() == 2
    runs.deliver("order.paid", "7", {"amount": 3})
    runs.drain()
    assert runs.state_of(run_id) == "succeeded"
    assert violations([run_id]) == []


def test_a_pause_that_was_only_requested_is_taken_back() -> None:
    run_id = runs.a_run("pauses_itself", {"also_resume": True})

    runs.drain()

    assert runs.state_of(run_id) == "succeeded"
    assert kinds_of(run_id).count("run.resumed") == 1


def test_r17_a_pause_taken_back_while_the_holder_is_on_its_way_to_stop_places_the_run_again() -> (
    None
):
    held = a_held_run("asks")
    pausing.pause(runs.the_operator(), held.run_id, because="not now")
    resuming.resume(runs.the_operator(), held.run_id)

    lifecycle.stop_as_requested(held.fence)

    assert runs.state_of(held.run_id) == "queued"
    assert violations([held.run_id]) == []


def test_r17_who_used_up_the_crash_budget_and_was_to_pause_is_paused_with_the_question_open() -> (
    None
):
    run_id = runs.a_run("asks")
    for _ in range(CRASH_BUDGET):
        held = claimed_by(a_worker_row(), run_id)
        pausing.pause(runs.the_operator(), run_id, because="not now")
        takeover.take_over(held.fence.worker_id, because="its process is gone")
        assert runs.state_of(run_id) == "paused"
        resuming.resume(runs.the_operator(), run_id)

    assert runs.state_of(run_id) == "waiting"
    assert runs.asked_of(runs.open_wait(run_id))["kind"] == "crashes"
    assert violations([run_id]) == []


def test_a_running_step_is_paused_at_its_next_checkpoint_and_goes_on_behind_it() -> None:
    run_id = runs.a_run("pauses_itself")

    runs.drain()

    run = runs.the_run(run_id)
    assert (run.state, run.reason, run.pause_requested) == ("paused", "by itself", False)
    assert runs.the_step(run_id, "turn").cursor_ordinal == 1
    resuming.resume(runs.the_operator(), run_id)
    runs.drain()
    assert runs.state_of(run_id) == "succeeded"
    assert violations([run_id]) == []


def test_a_run_that_is_asked_to_pause_and_parks_is_paused_with_its_wait_open() -> None:
    run_id = runs.a_run("pauses_and_asks")

    runs.drain()

    assert (runs.state_of(run_id), runs.open_wait(run_id).kind) == ("paused", "decision")
    assert violations([run_id]) == []


def test_a_run_that_fails_while_it_is_asked_to_pause_has_failed_and_is_asked_no_more() -> None:
    run_id = runs.a_run("pauses_and_fails")

    runs.drain()

    run = runs.the_run(run_id)
    assert (run.state, run.pause_requested) == ("failed", False)
    assert resuming.resume(runs.the_operator(), run_id).state == "queued"


def test_a_person_who_saw_another_state_changes_nothing() -> None:
    run_id = runs.a_run("asks")
    seen = seen_as(runs.the_run(run_id))
    runs.drain()

    for act in (pausing.pause, lifecycle.cancel):
        with pytest.raises(RunChanged):
            act(runs.the_operator(), run_id, because="not now", seen=seen)

    assert runs.state_of(run_id) == "waiting"


def test_pausing_all_leaves_what_stands_still_and_resuming_all_what_was_paused_alone() -> None:
    alone, failed = runs.a_run("asks"), runs.a_run("stumbles", {"mend": 1})
    asking = runs.a_run("asks")
    runs.drain()
    pausing.pause(runs.the_operator(), alone, because="this one only")
    queued = runs.a_run("asks")

    paused = pausing.pause_all(runs.the_operator(), because="maintenance", at_most=10)
    assert set(paused.paused) == {asking, queued}
    assert paused.left == 0

    resumed = resuming.resume_all(runs.the_operator(), at_most=10)
    assert set(resumed.resumed) == {asking, queued}
    assert [runs.state_of(each) for each in (alone, failed, asking, queued)] == [
        "paused", "failed", "waiting", "queued",
    ]  # fmt: skip


def test_pausing_all_of_one_tenant_leaves_the_others() -> None:
    runs.the_tenant("north")
    here, there = runs.a_run("asks"), runs.a_run("asks", tenant="north")

    pausing.pause_all(
        runs.the_operator(),
        because="maintenance",
        at_most=10,
        tenant_id=runs.the_tenant("north").pk,
    )

    assert (runs.state_of(here), runs.state_of(there)) == ("queued", "paused")
    assert Run.objects.get(pk=there).paused_with is not None
