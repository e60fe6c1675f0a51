"""A relayed call leaves by a courier: once under its key, in order, and an unknown result is never guessed."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from runs.definition import Contract, NotSent, Refused, RetryLater
from runs.engine import relay_courier, relaying
from runs.ledger import lifecycle, pausing, relayed, resuming
from runs.ledger import relaying as outbox
from runs.models import AuditEvent, Call, Message
from runs.queries.clock import db_now
from runs.queries.verify import violations
from tests.effects.shop import FOR_AN_HOUR, FOR_EVER, Shop, one_step, sale
from tests.support import runs

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("_no_desk")]

A_WHILE = timedelta(minutes=5)


def the_call(run_id: UUID) -> Call:
    return Call.objects.get(run_id=run_id)


def the_message(run_id: UUID) -> Message:
    return Message.objects.filter(run_id=run_id).latest("created_at", "id")


def the_question(run_id: UUID) -> Any:
    return runs.asked_of(runs.open_wait(run_id))


def put(errand: str = "errand") -> UUID:
    """A run whose call is in the outbox."""
    run_id = runs.a_run(errand)
    runs.drain()
    assert runs.open_wait(run_id).kind == "relay"
    return run_id


def let_it_leave_again(run_id: UUID) -> None:
    Message.objects.filter(run_id=run_id, state="pending").update(due_at=db_now())
    relay_courier.send_all_due()


def through(run_id: UUID) -> str:
    for _ in range(20):
        state = runs.work_through(run_id)
        if state != "waiting" or runs.open_wait(run_id).kind != "relay":
            return state
        let_it_leave_again(run_id)
    raise AssertionError(f"{run_id} still waits for its calls")


def test_the_step_parks_nothing_has_left_and_a_courier_brings_the_answer_back() -> None:
    shop, given = Shop(answers=[{"id": "sale-7"}]), []
    effect = shop.sells(relay=True, id_of=lambda answer: answer["id"])

    with one_step(lambda run: given.append(sale(run, effect)), effects=[effect]) as errand:
        run_id = put(errand)
        assert (shop.heard, the_call(run_id).state, the_call(run_id).unsent) == (
            [],
            "intended",
            True,
        )
        assert violations([run_id]) == []
        assert relay_courier.send_all_due() == 1
        assert runs.work_through(run_id) == "succeeded"

    call = the_call(run_id)
    assert (call.state, call.receiver_id, call.sends, given) == (
        "confirmed",
        "sale-7",
        1,
        [{"id": "sale-7"}],
    )
    assert (shop.keys, the_message(run_id).state) == ([call.key], "delivered")
    assert violations([run_id]) == []


def test_what_never_left_goes_out_again_later_under_the_same_key_and_spends_no_attempt() -> None:
    """R7"""
    shop = Shop(answers=[NotSent("no line"), RetryLater(timedelta(seconds=30)), {"id": "sale-1"}])
    effect = shop.sells(relay=True)

    with one_step(lambda run: sale(run, effect), effects=[effect]) as errand:
        run_id = put(errand)
        relay_courier.send_all_due()
        assert "no line" in the_message(run_id).error
        assert the_call(run_id).unsent
        before = db_now()
        let_it_leave_again(run_id)
        assert the_message(run_id).due_at >= before + timedelta(seconds=30)
        assert through(run_id) == "succeeded"

    assert (len(shop.heard), len(set(shop.keys)), the_call(run_id).sends) == (3, 1, 3)
    assert violations([run_id]) == []


def test_what_is_stuck_is_told_once_and_stays_to_be_retried() -> None:
    shop = Shop(answers=[NotSent("no line")])
    effect = shop.sells(relay=True)

    with one_step(lambda run: sale(run, effect), effects=[effect]) as errand:
        run_id = put(errand)
        for _ in range(7):
            let_it_leave_again(run_id)
        assert (the_message(run_id).state, the_message(run_id).attempts) == ("pending", 7)
        shop.answers = [{"id": "sale-1"}]
        assert through(run_id) == "succeeded"

    assert AuditEvent.objects.filter(run_id=run_id, kind="relay.stuck").count() == 1
    assert violations([run_id]) == []


def test_a_refusal_asks_and_reopened_it_goes_by_the_courier_again() -> None:
    """I5, R7"""
    shop = Shop(answers=[Refused("sold out", {"code": 409}), {"id": "sale-1"}])
    effect = shop.sells(relay=True)

    with one_step(lambda run: sale(run, effect), effects=[effect]) as errand:
        run_id = put(errand)
        assert through(run_id) == "waiting"
        assert (the_question(run_id)["kind"], the_call(run_id).state) == ("refused", "refused")
        runs.answer(run_id, "reopen")
        assert through(run_id) == "succeeded"

    assert (len(shop.heard), len(set(shop.keys))) == (2, 1)
    assert violations([run_id]) == []


def test_under_a_contract_an_unknown_result_is_sent_again_by_the_courier() -> None:
    """I6"""
    shop = Shop(answers=[TimeoutError("no answer"), {"id": "sale-1"}])
    effect = shop.sells(relay=True, contract=FOR_EVER)

    with one_step(lambda run: sale(run, effect), effects=[effect]) as errand:
        run_id = put(errand)
        relay_courier.send_all_due()
        assert the_call(run_id).state == "ambiguous"
        assert through(run_id) == "succeeded"

    assert (len(shop.heard), len(set(shop.keys)), the_call(run_id).sends) == (2, 1, 2)
    assert violations([run_id]) == []


def test_behind_its_window_the_probe_decides_and_then_a_person_does_and_never_the_clock() -> None:
    """I6, R6, R9"""
    shop = Shop(answers=[TimeoutError("no answer")])
    effect = shop.with_probe(relay=True, contract=FOR_AN_HOUR)
    shop.found = {"id": "sale-1"}

    with one_step(lambda run: sale(run, effect), effects=[effect]) as errand:
        run_id = put(errand)
        Call.objects.filter(run_id=run_id).update(
            intended_at=db_now() - timedelta(hours=2), fence=runs.the_run(run_id).fence
        )
        relay_courier.send_all_due()
        assert through(run_id) == "succeeded"

    assert (len(shop.heard), len(shop.asked), the_call(run_id).source) == (1, 1, "probe")
    assert violations([run_id]) == []


def test_with_neither_a_person_is_asked_and_decides_whether_it_leaves_again() -> None:
    """I6, R6"""
    shop = Shop(answers=[TimeoutError("no answer"), {"id": "sale-1"}])
    effect = shop.sells(relay=True)

    with one_step(lambda run: sale(run, effect), effects=[effect]) as errand:
        run_id = put(errand)
        relay_courier.send_all_due()
        assert the_message(run_id).state == "held"
        assert through(run_id) == "waiting"
        assert the_question(run_id)["kind"] == "reconcile"
        runs.answer(run_id, "did_not")
        assert through(run_id) == "succeeded"

    assert (len(shop.heard), len(set(shop.keys)), the_call(run_id).sends) == (2, 1, 2)
    again = AuditEvent.objects.get(run_id=run_id, kind="call.sent_again")
    assert '"allowed_by":"person:ann"' in again.body
    assert violations([run_id]) == []


def test_whoever_says_that_it_happened_has_nothing_sent() -> None:
    shop = Shop(answers=[TimeoutError("no answer")])
    effect = shop.sells(relay=True)

    with one_step(lambda run: sale(run, effect), effects=[effect]) as errand:
        run_id = put(errand)
        assert through(run_id) == "waiting"
        runs.answer(run_id, "happened", fields={"receiver_id": "sale-9"})
        assert through(run_id) == "succeeded"
        relay_courier.send_all_due()

    assert (len(shop.heard), the_message(run_id).state) == (1, "delivered")
    assert violations([run_id]) == []


@pytest.mark.parametrize(("contract", "sent"), [(None, 1), (FOR_EVER, 2)])
def test_a_courier_that_died_while_sending_leaves_a_call_in_doubt(
    contract: Contract | None, sent: int
) -> None:
    """I6: its message is taken again, and what that means its contract says, or a person."""
    shop = Shop()
    effect = shop.sells(relay=True, contract=contract)

    with one_step(lambda run: sale(run, effect), effects=[effect]) as errand:
        run_id = put(errand)
        dead = relaying.this_sender().replace('"pid": ', '"pid": 9')
        lane = relay_courier.lanes()[0]
        taken = outbox.take(lane=lane, lease=A_WHILE, sender=dead)
        assert taken is not None
        left = outbox.leave(taken)
        assert left is not None
        effect.send({}, key=left.key, timeout=1)
        relay_courier.send_all_due()
        assert len(shop.heard) == 1, "it is in somebody's hands"

        relay_courier._free_dead(lane)
        state = through(run_id)

    assert len(shop.heard) == sent
    assert state == ("succeeded" if contract else "waiting")
    if not contract:
        assert the_question(run_id)["kind"] == "reconcile"
    assert violations([run_id]) == []


@pytest.mark.parametrize(("contract", "at_once"), [(None, 1), (FOR_EVER, 2)])
def test_a_receiver_without_a_contract_gets_one_at_a_time(
    contract: Contract | None, at_once: int
) -> None:
    shop = Shop()
    effect = shop.sells(relay=True, contract=contract)

    with one_step(lambda run: sale(run, effect, of=str(run.id)), effects=[effect]):
        put(), put()
        lane = relay_courier.lanes()[0]
        taken = [outbox.take(lane=lane, lease=A_WHILE, sender="{}") for _ in range(3)]

    assert sum(each is not None for each in taken) == at_once


def test_calls_for_one_resource_leave_in_the_order_in_which_they_were_put() -> None:
    shop = Shop(answers=[NotSent("no line")])
    effect = shop.sells(relay=True, contract=FOR_EVER)

    with one_step(lambda run: sale(run, effect), effects=[effect]):
        first, second = put(), put()
        relay_courier.send_all_due()
        assert shop.keys == [the_call(first).key], "the second waits its turn"

        shop.answers = [{"id": "sale-1"}]
        assert (through(first), through(second)) == ("succeeded", "succeeded")

    assert shop.keys == [the_call(first).key] * 2 + [the_call(second).key]
    assert violations([first, second]) == []


def test_what_cannot_be_undone_leaves_only_as_it_was_approved() -> None:
    """I7, R4"""
    shop = Shop()
    effect = shop.sells(relay=True, reversible=None)

    with one_step(lambda run: sale(run, effect), effects=[effect]) as errand:
        run_id = runs.a_run(errand)
        runs.drain()
        assert (the_question(run_id)["kind"], Message.objects.count()) == ("call", 0)
        runs.approve(run_id)
        runs.drain()
        object.__setattr__(effect, "timeout", timedelta(seconds=11))
        relay_courier.send_all_due()
        assert (shop.heard, the_message(run_id).stuck_at is not None) == ([], True)

        object.__setattr__(effect, "timeout", timedelta(seconds=10))
        assert through(run_id) == "succeeded"

    assert len(shop.heard) == 1
    assert violations([run_id]) == []


def test_nothing_leaves_for_a_run_that_is_cancelled_and_a_late_answer_is_evidence() -> None:
    """R37"""
    shop = Shop()
    effect = shop.sells(relay=True)

    with one_step(lambda run: sale(run, effect), effects=[effect]):
        unsent = put()
        lifecycle.cancel(runs.the_operator(), unsent, because="not wanted")
        relay_courier.send_all_due()
        assert (shop.heard, the_message(unsent).state) == ([], "dead")

        run_id = put()
        taken = outbox.take(lane=relay_courier.lanes()[0], lease=A_WHILE, sender="{}")
        assert taken is not None
        assert outbox.leave(taken)
        lifecycle.cancel(runs.the_operator(), run_id, because="not wanted")
        assert not relayed.confirm(taken, answer={"id": "late"}, receiver_id="")

    assert AuditEvent.objects.filter(run=None, kind="call.late_answer").count() == 1
    assert violations([unsent, run_id]) == []


def test_while_its_run_is_paused_nothing_leaves_and_afterwards_it_does() -> None:
    shop = Shop()
    effect = shop.sells(relay=True)

    with one_step(lambda run: sale(run, effect), effects=[effect]) as errand:
        run_id = put(errand)
        pausing.pause(runs.the_operator(), run_id, because="wait")
        relay_courier.send_all_due()
        assert shop.heard == []
        resuming.resume(runs.the_operator(), run_id, because="go on")
        assert through(run_id) == "succeeded"

    assert len(shop.heard) == 1
    assert violations([run_id]) == []
