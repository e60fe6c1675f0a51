"""What $class_name does, from its start to its end."""

from pathlib import Path
from typing import Any

import pytest

$imports

# Calls leave outside of transactions, so these tests may not run inside one.
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _letters_in_a_scratch_folder(settings, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    settings.MEDIA_ROOT = tmp_path


def test_a_letter_is_written_and_sent_once(tmp_path: Path) -> None:
    outcome = run_workflow($class_name, who="Ada")

    letters = list((tmp_path / "$name").iterdir())
    assert outcome.state == "succeeded"
    assert [letter.read_text() for letter in letters] == ["Dear Ada, hello."]
    assert outcome.facts["receipt"] == letters[0].name


def test_every_call_that_was_made_is_on_record() -> None:
    outcome = run_workflow($class_name, who="Grace")

    assert [(call["effect"], call["state"]) for call in outcome.calls] == [
        ("$name.send_letter", "confirmed")
    ]


@pytest.mark.parametrize("point", ["before_body", "intent_committed", "sent", "before_commit"])
def test_wherever_the_worker_dies_the_letter_is_sent_once(point: Any) -> None:
    with Rehearsal() as stage:
        stage.kill_at(point, step="send")
        run = stage.start($class_name, who="Ada")

    assert run.state == "succeeded"
    run.assert_happened_once("$name.send_letter")
    run.assert_ran_once("write")
