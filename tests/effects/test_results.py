"""What `send` may say, what is done when it says nothing, and when a call is made once more."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from runs.definition import Contract, NotSent, Refused, RetryLater
from runs.engine.lease_keeper import LeaseKeeper
from runs.models import Assignment, AuditEvent, Call, Judgement, Step, Worker
from runs.queries.clock import db_now
from runs.queries.verify import violations
from tests.effects.shop import FOR_AN_HOUR, FOR_EVER, Shop, one_step, sale
from tests.support import runs

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("_no_desk")]


def the_call(run_id: UUID) -> Call:
    return Call.objects.get(run_id=run_id)


def the_question(run_id: UUID) -> Any:
    return runs.asked_of(runs.open_wait(run_id))


def test_an_answer_is_kept_with_its_digest_and_the_receivers_id() -> None:
    shop = Shop(answers=[{"id": "sale-7", "total": 3}])
    effect = shop.sells(id_of=lambda answer: answer["id"])

    with one_step(lambda run: sale(run, effect), effects=[effect]) as errand:
        run_id = runs.a_run(errand)
        assert runs.work_through(run_id) == "succeeded"

    call = the_call(run_id)
    assert (call.state, call.receiver_id, call.source) == ("confirmed", "sale-7", "receiver")
    assert (call.answer, len(call.answer_digest)) == ('{"id":"sale-7","total":3}', 64)
    assert violations([run_id]) == []


def test_a_known_result_is_given_back_without_sending_and_counted() -> None:
    """I5"""
    shop = Shop()
    effect, given = shop.sells(), []

    def body(run: Any) -> None:
        given.append(sale(run, effect))
        if run.attempt == 1:
            raise ConnectionError("after the call")

    with one_step(body, effects=[effect]) as errand:
        run_id = runs.a_run(errand)
        assert runs.work_through(run_id) == "succeeded"

    assert (len(shop.heard), given) == (1, [{"id": "sale-1"}] * 2)
    assert the_call(run_id).reused == 1
    assert violations([run_id]) == []


def test_a_call_that_never_left_goes_out_again_under_the_same_key_and_counts_as_a_failure() -> None:
    """R7"""
    shop = Shop(answers=[NotSent("no line"), {"id": "sale-1"}])
    effect = shop.sells()

    with one_step(lambda run: sale(run, effect), effects=[effect]) as errand:
        run_id = runs.a_run(errand)
        assert runs.work_through(run_id) == "succeeded"

    assert len(set(shop.keys)) == 1
    assert (the_call(run_id).sends, Step.objects.get(run_id=run_id).failures) == (2, 1)
    assert violations([run_id]) == []


def test_a_receiver_that_stays_away_asks_a_person_in_the_end() -> None:
    """R7: the step's retry policy holds for it too."""
    shop = Shop(answers=[NotSent("no line")])
    effect = shop.sells()

    with one_step(lambda run: sale(run, effect), effects=[effect]) as errand:
        run_id = runs.a_run(errand)
        assert runs.work_through(run_id) == "waiting"

    assert the_question(run_id)["kind"] == "give up"
    assert len(shop.heard) == 3
    assert the_call(run_id).unsent
    assert violations([run_id]) == []


def test_whoever_says_later_is_asked_again_then_and_spends_no_attempt() -> None:
    """R7"""
    later = RetryLater(timedelta(seconds=30), "too many")
    shop = Shop(answers=[later] * 5 + [{"id": "sale-1"}])
    effect = shop.sells()

    with one_step(lambda run: sale(run, effect), effects=[effect]) as errand:
        run_id = runs.a_run(errand)
        before = db_now()
        runs.drain()
        due = runs.open_wait(run_id).due_at
        assert due is not None
        assert before < due - timedelta(seconds=30) < db_now()
        assert runs.work_through(run_id) == "succeeded"

    assert (len(shop.heard), Step.objects.get(run_id=run_id).failures) == (6, 0)
    assert violations([run_id]) == []


def test_a_refusal_is_kept_and_not_sent_again_until_a_person_reopens_it() -> None:
    """I5, R7"""
    shop = Shop(answers=[Refused("sold out", {"code": 409}), {"id": "sale-1"}])
    effect = shop.sells()

    with one_step(lambda run: sale(run, effect), effects=[effect]) as errand:
        run_id = runs.a_run(errand)
        assert runs.work_through(run_id) == "waiting"
        assert (the_question(run_id)["kind"], the_call(run_id).state) == ("refused", "refused")
        runs.answer(run_id, "reopen")
        assert runs.work_through(run_id) == "succeeded"

    assert len(set(shop.keys)) == 1
    again = AuditEvent.objects.get(run_id=run_id, kind="call.sent_again")
    assert '"allowed_by":"ann"' in again.body
    assert violations([run_id]) == []


def test_an_author_may_go_on_after_a_refusal_and_is_told_the_same_again() -> None:
    shop = Shop(answers=[Refused("sold out")])
    effect, told = shop.sells(), []

    def body(run: Any) -> None:
        try:
            sale(run, effect)
        except Refused as refusal:
            told.append(refusal.reason)
        if run.attempt == 1:
            raise ConnectionError("after it")

    with one_step(body, effects=[effect]) as errand:
        run_id = runs.a_run(errand)
        assert runs.work_through(run_id) == "succeeded"

    assert (told, len(shop.heard)) == (["sold out"] * 2, 1)
    assert violations([run_id]) == []


def in_doubt(shop: Shop, effect: Any) -> UUID:
    """A run whose only call was answered by nobody."""
    shop.answers = [TimeoutError("no answer"), {"id": "sale-1"}]
    run_id = runs.a_run("errand")
    runs.drain()
    assert the_call(run_id).state == "ambiguous"
    return run_id


def let_the_call_be_old(run_id: UUID, **when: Any) -> None:
    Call.objects.filter(run_id=run_id).update(**when, fence=runs.the_run(run_id).fence)


def test_under_a_contract_without_end_an_unknown_result_is_sent_again() -> None:
    """I6"""
    shop = Shop()
    effect = shop.sells(contract=FOR_EVER)

    with one_step(lambda run: sale(run, effect), effects=[effect]):
        run_id = in_doubt(shop, effect)
        let_the_call_be_old(run_id, intended_at=db_now() - timedelta(days=900))
        assert runs.work_through(run_id) == "succeeded"

    assert (len(shop.heard), len(set(shop.keys))) == (2, 1)
    assert violations([run_id]) == []


@pytest.mark.parametrize(
    ("ago", "sent_again"),
    [
        (timedelta(minutes=58), True),
        # The resend with its timeout of ten seconds would end behind the window.
        (timedelta(minutes=59, seconds=55), False),
        (timedelta(hours=2), False),
    ],
)
def test_a_contracts_window_counts_from_the_first_intent_and_must_hold_the_resend(
    ago: timedelta, *, sent_again: bool
) -> None:
    """R9"""
    shop = Shop()
    effect = shop.sells(contract=FOR_AN_HOUR)

    with one_step(lambda run: sale(run, effect), effects=[effect]):
        run_id = in_doubt(shop, effect)
        let_the_call_be_old(run_id, intended_at=db_now() - ago)
        state = runs.work_through(run_id)

    assert state == ("succeeded" if sent_again else "waiting")
    assert len(shop.heard) == (2 if sent_again else 1)
    assert violations([run_id]) == []


def test_a_resend_does_not_begin_the_window_anew() -> None:
    """R9"""
    shop = Shop()
    effect = shop.sells(contract=Contract("For an hour.", window=timedelta(hours=1)))

    with one_step(lambda run: sale(run, effect), effects=[effect]):
        run_id = in_doubt(shop, effect)
        shop.answers = [TimeoutError("again no answer")]
        before = the_call(run_id).intended_at
        runs.let_it_be_due(run_id)
        runs.drain()

    assert (the_call(run_id).sends, the_call(run_id).intended_at) == (2, before)


def test_behind_the_window_the_probe_decides() -> None:
    """I6"""
    shop = Shop()
    effect = shop.with_probe(contract=FOR_AN_HOUR)
    shop.found = {"id": "sale-1"}

    with one_step(lambda run: sale(run, effect), effects=[effect]):
        run_id = in_doubt(shop, effect)
        let_the_call_be_old(run_id, intended_at=db_now() - timedelta(hours=2))
        assert runs.work_through(run_id) == "succeeded"

    assert (len(shop.heard), len(shop.asked), the_call(run_id).source) == (1, 1, "probe")
    assert violations([run_id]) == []


def test_a_probes_no_is_not_believed_before_it_has_settled() -> None:
    """R1"""
    shop = Shop()
    effect = shop.with_probe(settles=timedelta(seconds=60))

    with one_step(lambda run: sale(run, effect), effects=[effect]):
        run_id = in_doubt(shop, effect)
        runs.let_it_be_due(run_id)
        runs.drain()

        due = runs.open_wait(run_id).due_at
        assert due is not None
        assert due > the_call(run_id).sent_at + timedelta(seconds=70)
        assert len(shop.heard) == 1
        let_the_call_be_old(run_id, sent_at=db_now() - timedelta(seconds=71))
        runs.let_it_be_due(run_id)
        runs.drain()

    assert runs.state_of(run_id) == "succeeded"
    assert len(shop.heard) == 2
    assert violations([run_id]) == []


def test_a_probes_no_is_not_believed_while_its_sender_may_live() -> None:
    """R1"""
    shop = Shop()
    effect = shop.with_probe()

    with one_step(lambda run: sale(run, effect), effects=[effect]):
        run_id = in_doubt(shop, effect)
        sent_by = Assignment.objects.get(run_id=run_id, fence=the_call(run_id).fence)
        Assignment.objects.filter(pk=sent_by.pk).update(state="lost")
        Worker.objects.update(state="lost", proven_dead=False)
        let_the_call_be_old(run_id, sent_at=db_now() - timedelta(hours=1))
        runs.let_it_be_due(run_id)
        assert runs.work_through(run_id) == "waiting"

    assert the_question(run_id)["evidence"]["why"] == "the old sender is not proven dead"
    assert len(shop.heard) == 1
    assert violations([run_id]) == []


def test_a_worker_that_has_lost_its_lease_lets_nothing_leave(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """R1"""
    shop = Shop()
    effect = shop.sells()
    monkeypatch.setattr(LeaseKeeper, "trusts_its_lease", lambda self: False)
    monkeypatch.setattr(LeaseKeeper, "wait_until_trusted", lambda self: False)

    with one_step(lambda run: sale(run, effect), effects=[effect]) as errand:
        run_id = runs.a_run(errand)
        runs.drain()

    assert (shop.heard, Call.objects.count()) == ([], 0)
    assert runs.state_of(run_id) == "running", "whoever takes it over goes on"


def test_with_neither_contract_nor_probe_a_person_is_asked_in_the_same_attempt() -> None:
    """I6"""
    shop = Shop()
    effect = shop.sells()

    with one_step(lambda run: sale(run, effect), effects=[effect]):
        run_id = in_doubt(shop, effect)
        assert the_question(run_id)["kind"] == "reconcile"
        runs.answer(run_id, "happened", fields={"receiver_id": "sale-9"})
        assert runs.work_through(run_id) == "succeeded"

    call = the_call(run_id)
    assert (len(shop.heard), call.receiver_id, call.source) == (1, "sale-9", "person:ann")
    assert violations([run_id]) == []


def test_an_exit_inside_send_is_no_answer_either() -> None:
    shop = Shop()
    effect = shop.sells()

    with one_step(lambda run: sale(run, effect), effects=[effect]) as errand:
        shop.answers = [SystemExit(3), {"id": "sale-1"}]
        run_id = runs.a_run(errand)
        runs.drain()

    assert (the_call(run_id).state, the_question(run_id)["kind"]) == ("ambiguous", "reconcile")
    assert violations([run_id]) == []


def test_an_irreversible_call_that_no_list_covers_asks_with_the_very_bytes() -> None:
    """I7, R8: it says neither how it is undone nor by what, and so counts as irreversible."""
    shop = Shop()
    effect = shop.sells(reversible=None)

    with one_step(lambda run: sale(run, effect, amount=5), effects=[effect]) as errand:
        run_id = runs.a_run(errand)
        assert runs.work_through(run_id) == "waiting"
        shown = the_question(run_id)["call"]
        assert (shown["request"], shop.heard) == ({"what": "book", "amount": 5}, [])
        runs.answer(run_id, "approve")
        assert runs.work_through(run_id) == "succeeded"

    assert shop.heard == [(shown["key"], shown["request"])]
    assert the_call(run_id).authority.startswith("decision:")
    assert violations([run_id]) == []


def test_bytes_that_change_after_the_approval_are_asked_about_again() -> None:
    """I7"""
    shop = Shop()
    effect = shop.sells(reversible=None)

    def body(run: Any) -> None:
        sale(run, effect, amount=run.attempt)

    with one_step(body, effects=[effect]) as errand:
        run_id = runs.a_run(errand)
        runs.drain()
        runs.answer(run_id, "approve")
        runs.drain()
        asked = the_question(run_id)

    assert shop.heard == []
    assert asked["evidence"] == {"changed_from": {"what": "book", "amount": 1}}
    assert asked["call"]["request"] == {"what": "book", "amount": 2}
    assert violations([run_id]) == []


def test_an_intent_keeps_the_judgements_made_before_it() -> None:
    """R2: the next attempt must choose as this one did."""
    shop = Shop(answers=[TimeoutError("no answer"), {"id": "sale-1"}])
    effect, asked = shop.sells(contract=FOR_EVER), []

    class Chooser:
        name, parameters = "chooser", {"model": "x"}

        def input_of(self, subject: str) -> str:
            return subject

        def judge(self, question: str, input: str) -> str:  # noqa: A002
            asked.append(input)
            return f"book {len(asked)}"

    def body(run: Any) -> None:
        chosen = run.judge("which?", "today", by=Chooser())
        sale(run, effect, of=chosen.value)

    with one_step(body, effects=[effect]) as errand:
        run_id = runs.a_run(errand)
        assert runs.work_through(run_id) == "succeeded"

    assert (asked, len(set(shop.keys))) == (["today"], 1)
    assert Judgement.objects.filter(run_id=run_id).count() == 1
    assert violations([run_id]) == []
