"""Whatever a body does wrong becomes a recorded outcome: the run asks, fails or goes on, and never hangs."""

import sys
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction

from runs.definition import Retry
from runs.engine import executor
from runs.engine.parking import InsideTransaction
from runs.ledger import lifecycle
from runs.models import Artifact, Call, LogLine, PlannedCall, Step, Wait
from runs.queries.verify import violations
from tests.effects.shop import FOR_EVER, Shop, one_step, sale
from tests.support import runs

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("_no_desk")]


class Judge:
    name, parameters = "judge", {"model": "x"}

    def input_of(self, subject: Any) -> Any:
        return subject

    def judge(self, question: str, input: Any) -> Any:  # noqa: A002
        return True


SHOP = Shop()
EFFECT = SHOP.sells(contract=FOR_EVER)
# What takes its time, or could not be rolled back.
OUTSIDE: dict[str, Callable[[Any], object]] = {
    "call": lambda run: sale(run, EFFECT),
    "judge": lambda run: run.judge("is it?", 1, by=Judge()),
    "ask": lambda run: run.ask("it", question="May it?"),
    "wait_for": lambda run: run.wait_for("paid", correlation_id="7"),
    "sleep": lambda run: run.sleep("a while", timedelta(seconds=1)),
    "checkpoint": lambda run: _turn_a_page(run),
}


def _turn_a_page(run: Any) -> None:
    for page in run.pages([1], size=1):
        with run.checkpoint(cursor=page.end):
            pass


@pytest.mark.parametrize("verb", OUTSIDE)
@pytest.mark.parametrize("inside", ["an atomic block", "a transactional step"])
def test_nothing_leaves_inside_a_transaction(verb: str, inside: str) -> None:
    """R10"""
    refused: list[str] = []
    transactional = inside == "a transactional step"

    def body(run: Any) -> None:
        try:
            if transactional:
                OUTSIDE[verb](run)
            else:
                with transaction.atomic():
                    OUTSIDE[verb](run)
        except InsideTransaction as refusal:
            refused.append(str(refusal))

    declared = {"transactional": True} if transactional else {"effects": [EFFECT]}
    with one_step(body, **declared) as errand:
        run_id = runs.a_run(errand)
        assert runs.work_through(run_id) == "succeeded"

    assert f"run.{verb} inside a transaction" in refused[0]
    assert not Call.objects.exists()
    assert violations([run_id]) == []


@pytest.mark.parametrize("verb", ["ask", "wait_for", "sleep"])
def test_a_second_use_of_a_name_is_refused(verb: str) -> None:
    """R13"""

    def body(run: Any) -> None:
        try:
            OUTSIDE[verb](run)
        finally:
            OUTSIDE[verb](run)

    with one_step(body) as errand:
        run_id = runs.a_run(errand)
        runs.drain()
        if verb == "ask":
            runs.answer(run_id, "yes", fields={})
        elif verb == "wait_for":
            runs.deliver("paid", "7", {})
        else:
            runs.let_it_be_due(run_id)
        assert runs.work_through(run_id) == "waiting"

    assert "NameTaken" in runs.open_wait(run_id).subject
    assert violations([run_id]) == []


def test_a_name_belongs_to_its_page_and_the_answer_of_one_is_not_that_of_another() -> None:
    """R13"""
    answers = []

    def body(run: Any) -> None:
        before = run.ask("it", question="At all?")["option"]
        for page in run.pages(["a", "b"], size=1):
            said = run.ask("it", question=f"May {page.items[0]}?")["option"]
            answers.append((page.items[0], said, before))
            with run.checkpoint(cursor=page.end):
                pass

    with one_step(body) as errand:
        run_id = runs.a_run(errand)
        for said in ("yes", "no", "yes"):
            runs.drain()
            runs.answer(run_id, said, fields={})
        assert runs.work_through(run_id) == "succeeded"

    assert answers == [("a", "no", "yes"), ("b", "yes", "yes")]
    assert Wait.objects.filter(run_id=run_id).count() == 3
    assert violations([run_id]) == []


@pytest.mark.parametrize("then", ["ask", "call", "judge", "sleep", "read", "log"])
def test_a_body_that_swallows_being_parked_is_told_again_at_its_next_verb(then: str) -> None:
    """R13"""
    went_on: list[str] = []
    verbs: dict[str, Callable[[Any], object]] = {
        **OUTSIDE,
        "read": lambda run: run.read("n"),
        "log": lambda run: run.log("x"),
    }

    def body(run: Any) -> None:
        try:
            run.ask("first", question="May it?")
        except BaseException:  # noqa: BLE001
            verbs[then](run)
            went_on.append(then)

    with one_step(body, effects=[EFFECT]) as errand:
        run_id = runs.a_run(errand)
        runs.drain()

    assert (runs.state_of(run_id), went_on) == ("waiting", [])
    assert violations([run_id]) == []


def test_a_body_that_swallows_everything_ends_as_parked_all_the_same() -> None:
    def body(run: Any) -> None:
        try:
            run.ask("first", question="May it?")
        except BaseException:  # noqa: BLE001
            return

    with one_step(body) as errand:
        run_id = runs.a_run(errand)
        runs.drain()

    assert runs.state_of(run_id) == "waiting"
    assert violations([run_id]) == []


def test_what_was_planned_before_a_question_is_planned_once() -> None:
    """R3"""

    def body(run: Any) -> None:
        for number in range(3):
            run.plan("sales", EFFECT, resource=number, request={"n": number})
        run.ask("it", question="Shall that be the list?")
        run.plan("sales", EFFECT, resource=3, request={"n": 3})

    with one_step(body, writes=["sales"], effects=[EFFECT]) as errand:
        run_id = runs.a_run(errand)
        runs.drain()
        assert not PlannedCall.objects.exists()
        runs.answer(run_id, "yes", fields={})
        state = runs.work_through(run_id)

    planned = PlannedCall.objects.filter(run_id=run_id).order_by("ordinal")
    assert (state, [row.resource for row in planned]) == ("succeeded", ["0", "1", "2", "3"])
    assert violations([run_id]) == []


def test_what_a_page_has_planned_may_be_planned_again_by_the_next_attempt() -> None:
    """R3"""

    def body(run: Any) -> None:
        run.plan("sales", EFFECT, resource="first", request={})
        for page in run.pages([1, 2], size=1):
            run.plan("sales", EFFECT, resource=page.items[0], request={})
            with run.checkpoint(cursor=page.end):
                pass
            if run.attempt == 1:
                raise ConnectionError("after the first page")

    with one_step(body, writes=["sales"], effects=[EFFECT]) as errand:
        run_id = runs.a_run(errand)
        assert runs.work_through(run_id) == "succeeded"

    planned = PlannedCall.objects.filter(run_id=run_id).order_by("ordinal")
    assert [row.resource for row in planned] == ["first", "1", "2"]
    assert violations([run_id]) == []


def test_a_call_that_no_step_makes_cannot_be_planned() -> None:
    """Nobody could apply it, nor say what its digest covers."""

    def body(run: Any) -> None:
        run.plan("sales", EFFECT, resource="it", request={})

    with one_step(body, writes=["sales"]) as errand:
        run_id = runs.a_run(errand)
        assert runs.work_through(run_id) == "waiting"

    assert "which no step declares" in runs.open_wait(run_id).subject
    assert violations([run_id]) == []


def test_only_the_accepted_attempts_plan_counts() -> None:
    """R3"""

    def body(run: Any) -> None:
        run.plan("sales", EFFECT, resource=f"by attempt {run.attempt}", request={})
        if run.attempt == 1:
            raise ConnectionError("after planning")

    with one_step(body, writes=["sales"], effects=[EFFECT]) as errand:
        run_id = runs.a_run(errand)
        assert runs.work_through(run_id) == "succeeded"

    (planned,) = PlannedCall.objects.filter(run_id=run_id)
    assert planned.resource == "by attempt 2"
    assert violations([run_id]) == []


def test_an_event_that_came_first_loses_nothing_of_the_attempt_that_meets_it() -> None:
    """R14: the body goes on at once, with the calls that it has made."""
    shop = Shop()
    effect = shop.sells(contract=FOR_EVER)

    def body(run: Any) -> None:
        sale(run, effect)
        run.plan("sales", effect, resource="later", request={})
        run.log("called")
        run.wait_for("paid", correlation_id="7")
        sale(run, effect, of="pen")

    with one_step(body, effects=[effect], writes=["sales"]) as errand:
        runs.deliver("paid", "7", {})
        run_id = runs.a_run(errand)
        runs.drain()

    assert runs.state_of(run_id) == "succeeded"
    assert Step.objects.get(run_id=run_id).attempt == 1
    assert Call.objects.filter(run_id=run_id, checkpoint__isnull=False).count() == 2
    assert PlannedCall.objects.filter(run_id=run_id).count() == 1
    assert LogLine.objects.filter(run_id=run_id).count() == 1
    assert violations([run_id]) == []


def test_an_artifact_is_there_while_a_person_is_asked_about_it() -> None:
    def body(run: Any) -> None:
        shown = run.artifact("report.txt", b"all well", "text/plain")
        run.ask("it", question="Shall it go out?", evidence=shown)

    with one_step(body) as errand:
        run_id = runs.a_run(errand)
        runs.drain()

    assert (runs.state_of(run_id), Artifact.objects.filter(run_id=run_id).count()) == ("waiting", 1)
    assert violations([run_id], files=True) == []


@pytest.mark.parametrize("leaves", ["by asking", "by failing", "by sleeping", "by giving up"])
def test_a_cancel_that_comes_while_a_body_runs_is_heard_however_it_leaves(leaves: str) -> None:
    """R17"""

    def body(run: Any) -> None:
        lifecycle.cancel(runs.the_operator(), run.id, because="enough")
        if leaves == "by asking":
            run.ask("it", question="May it?")
        elif leaves == "by sleeping":
            run.sleep("a while", timedelta(hours=1))
        raise (LookupError if leaves == "by giving up" else ConnectionError)("it fails")

    giving_up = Retry(attempts=2, give_up_on=[LookupError])
    with one_step(body, retry=giving_up) as errand:
        run_id = runs.a_run(errand)
        runs.drain()

    assert (runs.state_of(run_id), runs.the_run(run_id).reason) == ("cancelled", "enough")
    assert violations([run_id]) == []


def test_a_cancel_does_not_roll_back_the_transactional_step_that_hears_it() -> None:
    """R17: what is done is done; the next step does not begin."""

    def body(run: Any) -> None:
        lifecycle.cancel(runs.the_operator(), run.id, because="enough")

    with one_step(body, transactional=True) as errand:
        run_id = runs.a_run(errand)
        runs.drain()

    # It was the last step, so the run had succeeded before anybody could cancel it.
    assert runs.state_of(run_id) == "succeeded"
    assert Step.objects.get(run_id=run_id).state == "succeeded"
    assert violations([run_id]) == []


def test_an_exit_of_a_body_is_a_failed_attempt() -> None:
    def body(run: Any) -> None:
        if run.attempt == 1:
            sys.exit(3)

    with one_step(body) as errand:
        run_id = runs.a_run(errand)
        assert runs.work_through(run_id) == "succeeded"

    assert Step.objects.get(run_id=run_id).failures == 1
    assert violations([run_id]) == []


@pytest.mark.parametrize("text", ["nul \0 in it", "half a pair \ud83d in it"])
def test_texts_that_no_database_takes_are_kept_readable(text: str) -> None:
    """Raw mail holds them, and an error repeats what it was about."""

    def body(run: Any) -> None:
        run.log(text)
        if run.attempt == 1:
            raise ValueError(text)

    with one_step(body) as errand:
        run_id = runs.a_run(errand)
        assert runs.work_through(run_id) == "succeeded"

    assert LogLine.objects.filter(run_id=run_id).count() == 2
    assert violations([run_id]) == []


def test_a_write_that_the_database_refuses_for_good_fails_the_run_instead_of_turning_round() -> (
    None
):
    """Only a database that is away is tried again."""

    def body(run: Any) -> None:
        run.wait_for("x" * 250, correlation_id="7")

    with one_step(body) as errand:
        run_id = runs.a_run(errand)
        state = runs.work_through(run_id)

    # SQLite stores whatever length it is given.
    assert state == "waiting"
    kinds = {"postgresql": "decision", "sqlite": "event"}
    assert runs.open_wait(run_id).kind == kinds[connection.vendor]
    assert violations([run_id]) == []


def test_an_engine_that_fails_leaves_the_run_failed_with_its_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("a fault of the engine's own")

    monkeypatch.setattr(executor, "begin_attempt", broken)
    with one_step(lambda run: None) as errand:
        run_id = runs.a_run(errand)
        runs.drain()

    run = runs.the_run(run_id)
    assert run.state == "failed"
    assert "a fault of the engine's own" in run.reason
    assert violations([run_id]) == []
