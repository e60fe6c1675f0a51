"""The input of a run that stands still is corrected: validated, recorded, without secrets."""

import json
from typing import Any
from uuid import UUID

import pytest

from runs.ledger import correcting, pausing, resuming
from runs.ledger.lifecycle import StartKeyTaken, start
from runs.models import AuditEvent
from runs.queries.verify import violations
from runs.rules.inputs import InvalidInput
from runs.rules.verbs import NotNow
from tests.support import runs

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("_moves")]


def corrected(run_id: UUID, **values: Any) -> correcting.Corrected:
    return correcting.correct(runs.the_operator(), run_id, values=values, because="it was wrong")


def event_of(run_id: UUID) -> Any:
    return json.loads(AuditEvent.objects.get(run=run_id, kind="run.input_corrected").body)


def test_a_failed_run_goes_on_with_the_corrected_input() -> None:
    run_id = runs.a_run("stumbles", {"mend": 9})
    runs.drain()

    said = corrected(run_id, mend=0, paper="blue")
    resuming.resume(runs.the_operator(), run_id)
    runs.drain()

    assert runs.facts_of(run_id) == {"counted": 3, "printed": "blue"}
    assert said.read_before == ["count"]
    assert violations([run_id]) == []


def test_the_record_has_both_values_their_digests_and_who_has_read_the_old_one() -> None:
    run_id = runs.a_run("stumbles", {"mend": 9})
    runs.drain()

    said = corrected(run_id, paper="blue")

    body = event_of(run_id)
    (field,) = body["fields"]
    assert (field["field"], field["old"], field["new"]) == ("paper", '"white"', '"blue"')
    assert body["new_digest"] == said.new_digest == runs.the_run(run_id).input_digest
    assert body["old_digest"] == said.old_digest
    assert body["read_before"] == ["count"]


def test_a_secret_is_not_in_the_record() -> None:
    run_id = runs.a_run("keeps_a_secret", {"password": "old and dear", "note": "x"})
    pausing.pause(runs.the_operator(), run_id, because="not now")

    corrected(run_id, password="new and dear", note="token=abcdefghijk")

    text = json.dumps(event_of(run_id))
    assert "dear" not in text
    assert "abcdefghijk" not in text


def test_an_input_that_does_not_fit_changes_nothing() -> None:
    run_id = runs.a_run("stumbles", {"mend": 9})
    runs.drain()
    before = runs.the_run(run_id).seq

    with pytest.raises(InvalidInput, match="paper"):
        corrected(run_id, paper=7)
    with pytest.raises(InvalidInput, match="colour"):
        corrected(run_id, colour="blue")
    with pytest.raises(correcting.NothingToCorrect):
        corrected(run_id, paper="white")

    assert runs.the_run(run_id).seq == before


def test_the_input_of_a_run_that_moves_is_left_alone() -> None:
    queued, asking = runs.a_run("stumbles", {"mend": 9}), runs.a_run("asks")

    with pytest.raises(NotNow, match="Pause it first"):
        corrected(queued, mend=0)
    runs.drain()
    with pytest.raises(NotNow, match="Pause it first"):
        corrected(asking, mend=0)


def test_a_run_that_asks_after_its_failures_is_corrected_and_tried_again() -> None:
    run_id = runs.a_run("gives_up")
    runs.drain()

    corrected(run_id, times=0, word="yes")
    runs.answer(run_id, "again")
    runs.drain()

    assert runs.facts_of(run_id) == {"said": "yes"}


def test_a_start_key_still_answers_to_what_the_run_was_started_with() -> None:
    run_id = runs.a_run("stumbles", {"mend": 9}, start_key="monday")
    runs.drain()
    corrected(run_id, mend=0)

    for mend in (9, 0):
        again = start(
            runs.the_operator(), workflow="stumbles", data={"mend": mend}, start_key="monday"
        )
        assert (again.id, again.created) == (run_id, False)
    with pytest.raises(StartKeyTaken):
        start(runs.the_operator(), workflow="stumbles", data={"mend": 5}, start_key="monday")
