"""When a step can go no further alone, a person is told what is in flight, and what each way does."""

import json
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from runs.ledger import lifecycle, pausing, replaying, resuming
from runs.models import AuditEvent, Call, Run
from runs.queries.verify import violations
from runs.rules.inputs import InvalidInput
from tests.operating.workflows import kinds_of
from tests.support import runs

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("_moves")]


def asked(run_id: UUID) -> Any:
    return json.loads(runs.open_wait(run_id).subject)


def consequence(run_id: UUID, option: str) -> str:
    found = next(each for each in asked(run_id)["options"] if each["key"] == option)
    return str(found["consequence"])


def test_used_up_retries_park_the_run_with_a_decision_that_names_the_step_in_flight() -> None:
    run_id = runs.a_run("gives_up")
    runs.drain()

    ask = asked(run_id)

    assert ask["kind"] == "give up"
    assert ask["evidence"]["in_flight"] == "step speak, attempt 1, behind checkpoint 0"
    assert [each["key"] for each in ask["options"]] == [
        "again", "correct", "restart", "cancel", "stop",
    ]  # fmt: skip


def test_a_definite_refusal_names_the_calls_of_the_step_and_their_keys(tmp_path: Path) -> None:
    run_id = runs.a_run("buys", {"says": "refused", "log": str(tmp_path / "log")})
    runs.drain()

    ask, call = asked(run_id), Call.objects.get(run=run_id)

    assert ask["kind"] == "refused"
    assert ask["evidence"]["calls"] == [
        {"key": call.key, "effect": "shop.buy", "resource": "it", "state": "refused"}
    ]


def test_the_input_is_corrected_from_the_decision_and_the_step_is_tried_again() -> None:
    run_id = runs.a_run("gives_up")
    runs.drain()

    runs.answer(run_id, "correct", fields={"times": "0", "word": ""})
    runs.drain()

    assert runs.facts_of(run_id) == {"said": "no"}
    assert "run.input_corrected" in kinds_of(run_id)
    assert violations([run_id]) == []


def test_a_text_is_made_empty_from_the_decision_by_saying_so() -> None:
    run_id = runs.a_run("gives_up")
    runs.drain()
    offered = next(each for each in asked(run_id)["options"] if each["key"] == "correct")

    with pytest.raises(InvalidInput, match="word: is filled in, and is to be empty as well"):
        runs.answer(run_id, "correct", fields={"word": "yes", "word.empty": True})
    runs.answer(run_id, "correct", fields={"times": "0", "word": "", "word.empty": True})
    runs.drain()

    assert sorted(offered["fields"]) == ["times", "word", "word.empty"]
    assert runs.facts_of(run_id) == {"said": ""}


def test_a_correction_that_does_not_fit_leaves_the_decision_open() -> None:
    run_id = runs.a_run("gives_up")
    runs.drain()

    with pytest.raises(InvalidInput, match="times"):
        runs.answer(run_id, "correct", fields={"times": "many"})

    assert runs.open_wait(run_id).kind == "decision"


def test_a_refused_call_whose_input_is_corrected_becomes_a_conflict_that_is_asked(
    tmp_path: Path,
) -> None:
    run_id = runs.a_run("buys", {"says": "refused", "log": str(tmp_path / "log")})
    runs.drain()

    runs.answer(run_id, "correct", fields={"says": "yes"})
    runs.drain()

    assert asked(run_id)["kind"] == "conflict"
    assert Call.objects.filter(run=run_id).count() == 1


def test_a_refused_call_that_a_correction_does_not_change_is_asked_about_anew(
    tmp_path: Path,
) -> None:
    run_id = runs.a_run("buys", {"says": "refused", "log": str(tmp_path / "log")})
    runs.drain()

    runs.answer(run_id, "correct", fields={"log": str(tmp_path / "other")})
    runs.drain()

    assert asked(run_id)["kind"] == "refused"


def test_a_cancelled_run_says_which_calls_nobody_knows_of(tmp_path: Path) -> None:
    run_id = runs.a_run("buys", {"says": "nothing", "log": str(tmp_path / "log")})
    runs.work_through(run_id)
    key = Call.objects.get(run=run_id).key

    lifecycle.cancel(runs.the_operator(), run_id, because="enough")

    for kind in ("run.cancelled", "audit.line"):
        event = AuditEvent.objects.filter(run=run_id, kind=kind).latest("seq")
        assert [call["key"] for call in json.loads(event.body)["in_doubt"]] == [key]
    assert violations([run_id]) == []


def test_a_stop_is_no_answer_to_whether_a_call_happened(tmp_path: Path) -> None:
    run_id = runs.a_run("buys", {"says": "nothing", "log": str(tmp_path / "log")})
    runs.work_through(run_id)
    assert asked(run_id)["kind"] == "reconcile"
    runs.answer(run_id, "stop")

    resumed = resuming.resume(runs.the_operator(), run_id, because="I have asked them")
    runs.drain()

    (call,) = resumed.in_doubt
    assert call["key"] == Call.objects.get(run=run_id).key
    assert asked(run_id)["kind"] == "reconcile"
    assert Call.objects.get(run=run_id).sends == 1
    assert violations([run_id]) == []


def test_a_probe_that_raises_until_no_attempt_is_left_asks_whether_it_happened(
    tmp_path: Path,
) -> None:
    run_id = runs.a_run("asks_after", {"log": str(tmp_path / "log")})

    runs.work_through(run_id)

    ask = asked(run_id)
    assert ask["kind"] == "reconcile"
    assert "the line is dead" in ask["evidence"]["probe"]
    runs.answer(run_id, "happened", fields={"receiver_id": "7"})
    runs.work_through(run_id)
    assert runs.state_of(run_id) == "succeeded"
    assert violations([run_id]) == []


def test_a_run_is_replayed_from_the_decision() -> None:
    run_id = runs.a_run("stumbles_and_asks", {"mend": 1})
    runs.drain()

    runs.answer(run_id, "replay", fields={"checkpoint": 0})
    runs.drain()

    run = runs.the_run(run_id)
    assert (run.state, run.generation) == ("succeeded", 2)
    assert violations([run_id]) == []


def test_a_run_is_restarted_from_the_decision() -> None:
    run_id = runs.a_run("stumbles_and_asks", {"mend": 1})
    runs.drain()

    runs.answer(run_id, "restart")

    heir = Run.objects.get(restart_of=run_id)
    assert (runs.state_of(run_id), heir.state) == ("superseded", "queued")
    assert violations([run_id, heir.pk]) == []


def test_each_way_on_says_what_becomes_of_the_calls(tmp_path: Path) -> None:
    run_id = runs.a_run("buys_twice", {"log": str(tmp_path / "log")})
    runs.drain()

    assert "1 call already answered is not sent again" in consequence(run_id, "again")
    assert "never changes again" in consequence(run_id, "cancel")
    assert "fresh keys" in consequence(run_id, "restart")


def test_a_step_that_may_be_skipped_is_passed_over_and_recorded() -> None:
    run_id = runs.a_run("may_be_skipped")
    runs.drain()
    assert "The run goes on with send" in consequence(run_id, "skip")

    runs.answer(run_id, "skip")
    assert violations([run_id]) == []
    runs.drain()

    assert runs.state_of(run_id) == "succeeded"
    assert runs.the_step(run_id, "paint").state == "skipped"
    assert runs.facts_of(run_id) == {"counted": 3, "sent": 3}
    assert "step.skipped" in kinds_of(run_id)
    assert violations([run_id]) == []


def test_a_skipped_step_is_done_when_the_run_is_replayed_from_before_it() -> None:
    run_id = runs.a_run("may_be_skipped")
    runs.drain()
    runs.answer(run_id, "skip")
    pausing.pause(runs.the_operator(), run_id, because="there is paint after all")

    replaying.replay(runs.the_operator(), run_id, checkpoint=1, because="paint it")
    runs.drain()

    assert asked(run_id)["kind"] == "give up"
    assert violations([run_id]) == []
