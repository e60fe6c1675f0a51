"""A call in doubt that a person has undone: by a call of its own, once, and then it is not sent again."""

from typing import Any
from uuid import UUID

import pytest

from runs.definition import Contract, Effect
from runs.definition.effects import Undone
from runs.models import AuditEvent, Call
from runs.queries.verify import violations
from tests.effects.shop import Shop, one_step, sale
from tests.support import runs

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("_no_desk")]


def sold_in_doubt(shop: Shop, effect: Effect, errand: str) -> UUID:
    shop.answers = [TimeoutError("no answer"), {"id": "sale-1"}]
    run_id = runs.a_run(errand)
    assert runs.work_through(run_id) == "waiting"
    return run_id


def undo_of(run_id: UUID) -> Call:
    return Call.objects.get(run_id=run_id, undoes__isnull=False)


def test_the_undo_is_a_call_of_its_own_that_names_what_it_undoes_and_the_run_stops() -> None:
    shop, back = Shop(), Shop(answers=[{"id": "back-1"}])
    effect = shop.sells(reversible=None, compensate=back.send)

    with one_step(lambda run: sale(run, effect), effects=[effect]) as errand:
        run_id = sold_in_doubt(shop, effect, errand)
        runs.answer(run_id, "compensate")
        assert runs.work_through(run_id) == "failed"

    sold, undo = Call.objects.get(run_id=run_id, undoes=None), undo_of(run_id)
    assert (sold.state, undo.state, len(shop.heard)) == ("abandoned", "confirmed", 1)
    ((key, request),) = back.heard
    assert (key, request["key"], request["answer"]) == (undo.key, sold.key, None)
    assert undo.key in sold.source
    assert AuditEvent.objects.filter(run_id=run_id, kind="call.compensated").count() == 1
    assert "was undone by shop.sell.undo" in runs.the_run(run_id).reason
    assert violations([run_id]) == []


def test_a_step_that_can_go_on_without_it_goes_on() -> None:
    shop, back = Shop(), Shop(answers=[{"id": "back-1"}])
    effect = shop.sells(reversible=None, compensate=back.send)

    def body(run: Any) -> None:
        try:
            sale(run, effect)
        except Undone:
            sale(run, effect, of="another book")

    with one_step(body, effects=[effect]) as errand:
        run_id = sold_in_doubt(shop, effect, errand)
        runs.answer(run_id, "compensate")
        assert runs.work_through(run_id) == "succeeded"

    assert (len(shop.heard), len(back.heard)) == (2, 1)
    assert violations([run_id]) == []


@pytest.mark.parametrize("promises", [True, False])
def test_an_undo_whose_result_is_unknown_follows_its_own_contract_or_asks(
    promises: bool,
) -> None:
    """I6"""
    shop, back = Shop(), Shop(answers=[TimeoutError("no answer"), {"id": "back-1"}])
    undo = Effect(
        "shop.take_back",
        send=back.send,
        reversible="it undoes",
        contract=Contract("Taken back once.", window=None) if promises else None,
    )
    effect = shop.sells(reversible=None, compensate=undo)

    with one_step(lambda run: sale(run, effect), effects=[effect]) as errand:
        run_id = sold_in_doubt(shop, effect, errand)
        runs.answer(run_id, "compensate")
        if not promises:
            assert runs.work_through(run_id) == "waiting"
            runs.answer(run_id, "happened", fields={"receiver_id": "back-1"})
        assert runs.work_through(run_id) == "failed"

    assert len(back.heard) == (2 if promises else 1)
    assert (len(set(back.keys)), undo_of(run_id).state) == (1, "confirmed")
    assert violations([run_id]) == []


def test_what_declares_no_undo_offers_none() -> None:
    shop = Shop()
    effect = shop.sells()

    with one_step(lambda run: sale(run, effect), effects=[effect]) as errand:
        run_id = sold_in_doubt(shop, effect, errand)

    options = [each["key"] for each in runs.asked_of(runs.open_wait(run_id))["options"]]
    assert options == ["happened", "did_not", "restart", "stop"]
