"""Doubt is not lost by a resend that never left, and an answer is not lost for its form."""

import os
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from runs.definition import NotSent, Retry, RetryLater, Secret
from runs.ledger import replaying
from runs.models import AuditEvent, Call
from runs.queries.clock import db_now
from runs.queries.verify import violations
from tests.effects.shop import FOR_AN_HOUR, FOR_EVER, Shop, one_step, sale
from tests.support import runs

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("_no_desk")]

LATER = RetryLater(timedelta(hours=2), "busy")


def the_call(run_id: UUID) -> Call:
    return Call.objects.get(run_id=run_id)


def test_a_resend_that_never_left_leaves_the_doubt_about_the_first_sending() -> None:
    """I6, R9: once the window is over nobody may say "it never left"."""
    shop = Shop(answers=[TimeoutError("no answer"), LATER, {"id": "sale-2"}])
    effect = shop.sells(contract=FOR_AN_HOUR)

    with one_step(lambda run: sale(run, effect), effects=[effect]):
        run_id = runs.a_run("errand")
        runs.drain()
        runs.let_it_be_due(run_id)
        runs.drain()
        left_in = (the_call(run_id).state, the_call(run_id).unsent)
        Call.objects.filter(run_id=run_id).update(
            intended_at=db_now() - timedelta(hours=2), fence=runs.the_run(run_id).fence
        )
        runs.let_it_be_due(run_id)
        runs.drain()

    assert left_in == ("ambiguous", False)
    assert len(shop.heard) == 2
    assert runs.asked_of(runs.open_wait(run_id))["kind"] == "reconcile"
    assert violations([run_id]) == []


@pytest.mark.parametrize(
    "answer", [{"id": 2**60}, {"id": "sale-1", "at": datetime(2026, 1, 1, tzinfo=UTC)}]
)
def test_an_answer_that_no_json_holds_is_an_answer_all_the_same(answer: dict[str, Any]) -> None:
    """R7: what the receiver has done is known, whatever its answer looks like."""
    shop = Shop(answers=[answer])
    effect = shop.sells(id_of=lambda said: said["id"])

    with one_step(lambda run: sale(run, effect), effects=[effect]):
        run_id = runs.a_run("errand")
        runs.drain()

    assert runs.state_of(run_id) == "succeeded"
    assert (the_call(run_id).state, len(shop.heard)) == ("confirmed", 1)
    assert the_call(run_id).receiver_id == str(answer["id"])
    assert violations([run_id]) == []


def test_an_id_that_cannot_be_read_from_the_answer_does_not_lose_the_answer() -> None:
    """R7"""
    shop = Shop(answers=[{"number": 7}])
    effect = shop.sells(id_of=lambda said: said["id"])

    with one_step(lambda run: sale(run, effect), effects=[effect]):
        run_id = runs.a_run("errand")
        runs.drain()

    assert (the_call(run_id).state, the_call(run_id).receiver_id) == ("confirmed", "")
    assert the_call(run_id).answer == '{"number":7}'


def test_a_secret_that_the_receiver_echoes_is_not_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    """R11"""
    monkeypatch.setitem(os.environ, "MILEPOST_SECRET_SHOP", "hush-hush-hush")
    refused = NotSent("it does not take hush-hush-hush")
    answer = {"id": "sale-1", "you_sent": {"token": "Bearer hush-hush-hush"}}
    shop = Shop(answers=[refused, answer])
    effect = shop.sells(contract=FOR_EVER, id_of=lambda said: said["id"])

    def body(run: Any) -> None:
        run.call(effect, resource="book", request={"token": Secret("shop")})

    with one_step(body, effects=[effect]):
        run_id = runs.a_run("errand")
        runs.drain()
        told = f"{the_call(run_id).error}{runs.the_step(run_id, 'do').error}"
        assert runs.work_through(run_id) == "succeeded"

    said = "".join(AuditEvent.objects.filter(run_id=run_id).values_list("body", flat=True))
    assert ("hush" not in told + said, "[secret shop]" in told) == (True, True)
    assert shop.heard[0][1] == {"token": "hush-hush-hush"}
    assert "hush" not in f"{the_call(run_id).answer}{the_call(run_id).request}"
    assert "[secret shop]" in (the_call(run_id).answer or "")


def test_what_was_allowed_and_never_left_is_asked_about_anew_in_a_later_generation() -> None:
    """I7, R3: an approval holds for the generation that asked for it."""
    shop = Shop(answers=[NotSent("the line is busy"), {"id": "sale-1"}])
    effect = shop.sells(reversible=None)

    with one_step(lambda run: sale(run, effect), effects=[effect], retry=Retry(attempts=1)):
        run_id = runs.a_run("errand")
        runs.drain()
        runs.answer(run_id, "approve")
        runs.drain()
        assert runs.asked_of(runs.open_wait(run_id))["kind"] == "give up"
        replaying.replay(runs.the_operator(), run_id, checkpoint=0, because="tests")
        runs.drain()

        assert runs.asked_of(runs.open_wait(run_id))["kind"] == "call"
        assert len(shop.heard) == 1
        runs.answer(run_id, "approve")
        runs.drain()

    assert (runs.state_of(run_id), len(set(shop.keys))) == ("succeeded", 1)
    assert violations([run_id]) == []


def test_what_was_allowed_and_never_left_is_sent_by_the_next_attempt_unasked() -> None:
    shop = Shop(answers=[NotSent("the line is busy"), {"id": "sale-1"}])
    effect = shop.sells(reversible=None)

    with one_step(lambda run: sale(run, effect), effects=[effect]):
        run_id = runs.a_run("errand")
        runs.drain()
        runs.answer(run_id, "approve")

        assert runs.work_through(run_id) == "succeeded"
