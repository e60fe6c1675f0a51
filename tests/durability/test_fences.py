"""A worker that was replaced can write nothing any more, whatever it still holds in its hands."""

from collections.abc import Callable
from uuid import UUID

import pytest
from django.db import IntegrityError, connection, transaction

from runs.ledger import checkpoints, effects, lifecycle, steps, takeover, waits, workers
from runs.models import AuditEvent, Call, PlannedCall, Run, Step, Worker
from runs.queries import resume
from runs.queries.verify import violations
from runs.rules.chain import Draft
from runs.rules.claims import Advance
from runs.rules.fence import FenceLost
from runs.rules.states import WaitKind
from runs.rules.written import CallPlanned, WaitDraft, Written
from tests.durability.fences import Held, a_held_run, a_worker_row, claimed_by

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("_bodies")]


def replaced(held: Held) -> Held:
    """Another worker has the run by now."""
    assert workers.declare_lost(held.fence.worker_id, because="tests", only_if_expired=False)
    assert takeover.take_over(held.fence.worker_id, because="tests") == [held.run_id]
    return claimed_by(a_worker_row(), held.run_id)


def a_page(held: Held) -> Advance:
    return Advance(
        step=held.place.key,
        generation=1,
        finished=False,
        facts="{}",
        facts_digest="",
        cursor_ordinal=5,
        cursor_token="",
        keys_count=0,
        keys_digest="",
        plan_hash=held.claimed.plan_hash,
        version=1,
        next_step=None,
        ends_run=False,
        events=[Draft(kind="step.page", step=held.place.key)],
    )


def advance(held: Held, written: Written) -> None:
    checkpoints.advance(held.fence, a_page(held), place=held.place, written=written)


def some_plan() -> Written:
    planned = CallPlanned(
        plan="payments",
        ordinal=1,
        effect="shop.pay",
        resource="it",
        request="{}",
        request_digest="x",
        evidence="null",
        digest="x",
    )
    return Written(planned=[planned])


def park(held: Held) -> None:
    nap = WaitDraft(name="sleep nap", kind=WaitKind.TIMER, after_seconds=1.0, on_due="resume")
    waits.park(held.fence, place=held.place, wait=nap, written=Written())


# The verbs of the ledger that a worker writes with, each as a zombie would still call it.
LATE: dict[str, Callable[[Held], object]] = {
    "turns a page": lambda held: advance(held, Written()),
    "turns a page with a plan": lambda held: advance(held, some_plan()),
    "notes progress": lambda held: steps.note_progress(held.fence, held.place, done=1, total=2),
    "intends a call": lambda held: held.a_call("example.pay_by_contract", resource="another"),
    "parks": park,
    "fails the run": lambda held: lifecycle.fail(held.fence, reason="x", error_class="X"),
    "hands the run back": lambda held: lifecycle.hand_back(held.fence, because="x", entered=True),
    "stops the run": lambda held: lifecycle.stop_as_requested(held.fence),
}


def snapshot(run_id: UUID) -> list[object]:
    run = Run.objects.get(pk=run_id)
    seen: list[object] = [run.state, run.seq, run.head, run.fence, run.checkpoint]
    return [*seen, *Step.objects.filter(run_id=run_id).values(), *Call.objects.values()]


@pytest.mark.parametrize("does", LATE)
def test_a_zombie_is_refused_and_changes_nothing_when_it(does: str) -> None:
    """I3, R3"""
    zombie = a_held_run("example_call_contract", receiver="/dev/null")
    new = replaced(zombie)
    before = snapshot(new.run_id)

    with pytest.raises(FenceLost):
        LATE[does](zombie)

    assert snapshot(new.run_id) == before
    assert not PlannedCall.objects.exists()


@pytest.mark.parametrize("says", ["confirms", "refuses", "doubts", "sends again", "keeps unsent"])
def test_a_zombie_cannot_say_what_became_of_a_call_when_it(says: str) -> None:
    zombie = a_held_run("example_call_contract", receiver="/dev/null")
    call = zombie.a_call("example.pay_by_contract")
    new = replaced(zombie)
    before = snapshot(new.run_id)
    answer = {"id": "7"}
    book: Callable[[], object] = {
        "confirms": lambda: effects.confirm(
            zombie.fence, call, answer=answer, receiver_id="7", source="receiver"
        ),
        "refuses": lambda: effects.refuse(zombie.fence, call, reason="no", answer=None),
        "doubts": lambda: effects.doubt(zombie.fence, call, error="who knows"),
        "sends again": lambda: effects.send_again(zombie.fence, call, allowed_by="nobody"),
        "keeps unsent": lambda: effects.keep_unsent(zombie.fence, call, reason="it did not"),
    }[says]

    with pytest.raises(FenceLost):
        book()

    assert snapshot(new.run_id) == before
    assert violations([new.run_id]) == []


def test_what_came_back_to_a_zombie_is_kept_as_evidence() -> None:
    """R25, R37: in the tenant's chain, where it changes nothing and whoever decides can read it."""
    zombie = a_held_run("example_call_contract", receiver="/dev/null")
    call = zombie.a_call("example.pay_by_contract")
    new = replaced(zombie)

    effects.keep_late_answer(zombie.fence, call, answer={"id": "receipt-7"})

    tenant = new.fence.tenant_id
    assert resume.late_answers(tenant, key=call.key) == [{"id": "receipt-7"}]
    assert resume.late_answers(tenant, key="mp_another") == []
    assert AuditEvent.objects.get(kind="call.late_answer").run_id is None
    assert violations() == []


def test_a_claim_is_not_taken_from_a_worker_that_was_declared_lost() -> None:
    held = a_held_run("example_log")
    worker_id = a_worker_row()
    Worker.objects.filter(pk=worker_id).update(state="lost")
    takeover.take_over(held.fence.worker_id, because="tests")

    with pytest.raises(AssertionError):
        claimed_by(worker_id, held.run_id)


def test_a_draining_worker_takes_nothing_more() -> None:
    held = a_held_run("example_log")
    takeover.take_over(held.fence.worker_id, because="tests")
    worker_id = a_worker_row()
    assert workers.drain(worker_id)

    with pytest.raises(AssertionError):
        claimed_by(worker_id, held.run_id)


def test_an_intended_call_without_a_live_fence_has_a_sender_that_is_not_proven_gone() -> None:
    """R1"""
    zombie = a_held_run("example_call_probe", receiver="/dev/null")
    zombie.a_call("example.pay_with_probe")
    run_id, fence = zombie.run_id, zombie.fence.number
    replaced(zombie)

    assert not resume.sender_is_gone(run_id, fence=fence)
    workers.prove_dead(zombie.fence.worker_id)
    assert resume.sender_is_gone(run_id, fence=fence)


def test_even_raw_sql_under_an_old_fence_is_refused() -> None:
    """I3"""
    zombie = a_held_run("example_log")
    replaced(zombie)
    run = zombie.run_id.hex if connection.vendor == "sqlite" else str(zombie.run_id)

    with (
        pytest.raises(IntegrityError, match="I3"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(
            "UPDATE runs_step SET progress_done = 1, fence = %s WHERE run_id = %s",
            [zombie.fence.number, run],
        )
