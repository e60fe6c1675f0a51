"""What is in the outbox leaves only while it may: not for a run that stands still, was replayed, or knows better."""

from datetime import timedelta
from typing import Any

import pytest

from runs.definition import NotSent
from runs.engine import relay_courier
from runs.ledger import pausing, replaying, resuming
from runs.ledger import relaying as outbox
from runs.models import Message
from runs.queries.clock import db_now
from runs.queries.verify import violations
from tests.effects.shop import Shop, one_step, sale
from tests.effects.test_relayed import (
    A_WHILE,
    let_it_leave_again,
    put,
    the_call,
    the_message,
    the_question,
    through,
)
from tests.support import runs

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("_no_desk")]


def test_standing_still_is_no_fruitless_delivery() -> None:
    shop = Shop(answers=[NotSent("no line")])
    effect = shop.sells(relay=True)

    with one_step(lambda run: sale(run, effect), effects=[effect]) as errand:
        run_id = put(errand)
        pausing.pause(runs.the_operator(), run_id, because="wait")
        for _ in range(7):
            let_it_leave_again(run_id)
        resuming.resume(runs.the_operator(), run_id, because="go on")
        let_it_leave_again(run_id)

        message = the_message(run_id)
        assert (message.attempts, message.stuck_at) == (1, None)
        assert message.due_at < db_now() + timedelta(seconds=5)


def test_what_was_put_away_while_it_was_being_taken_stays_put_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A courier that is late books its result between the look of the next one and its grasp."""
    shop = Shop()
    effect = shop.sells(relay=True)

    with one_step(lambda run: sale(run, effect), effects=[effect]) as errand:
        run_id, look = put(errand), outbox._next_of

        def too_late(free: Any) -> Message | None:
            found = look(free)
            Message.objects.filter(run_id=run_id).update(state="held", error="in doubt")
            return found

        monkeypatch.setattr(outbox, "_next_of", too_late)
        lane = the_message(run_id).lane
        taken = outbox.take(lane=lane, lease=A_WHILE, sender="somebody")

    message = the_message(run_id)
    assert taken is None
    assert (message.state, message.lease_until, message.senders) == ("held", None, "[]")


def test_what_was_approved_before_a_replay_and_has_not_left_is_approved_anew() -> None:
    """I7, R3"""
    shop = Shop()
    effect = shop.sells(relay=True, reversible=None)

    with one_step(lambda run: sale(run, effect), effects=[effect]) as errand:
        run_id = runs.a_run(errand)
        runs.drain()
        runs.approve(run_id)
        runs.drain()
        assert runs.open_wait(run_id).kind == "relay"
        taken = outbox.take(lane=relay_courier.lanes()[0], lease=A_WHILE, sender="{}")

        replaying.replay(runs.the_operator(), run_id, checkpoint=0, because="not like this")
        assert taken is not None
        assert outbox.leave(taken) is None, "also where a courier has it in its hands"
        relay_courier.send_all_due()
        runs.drain()
        assert (shop.heard, the_message(run_id).state) == ([], "dead")
        assert the_question(run_id)["kind"] == "call"
        assert violations([run_id]) == []

        runs.approve(run_id)
        assert through(run_id) == "succeeded"

    assert (len(shop.heard), the_call(run_id).sends) == (1, 1)
    assert violations([run_id]) == []


def test_a_wait_for_couriers_that_have_nothing_is_named() -> None:
    """I11"""
    effect = Shop().sells(relay=True)

    with one_step(lambda run: sale(run, effect), effects=[effect]) as errand:
        run_id = put(errand)
        assert violations([run_id]) == []
        Message.objects.filter(run_id=run_id).update(state="delivered", settled_at=db_now())

        (found,) = violations([run_id])

    assert (found.invariant, "No courier has" in found.text) == ("I11", True)
