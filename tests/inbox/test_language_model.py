"""A language model may judge instead: its limits, its failures and its cost are told apart."""

import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from runs.definition import RetryLater
from runs.examples.inbox.incoming import Incoming
from runs.examples.inbox.language_model import (
    LanguageModel,
    MalformedAnswer,
    ModelRefused,
    ModelUnavailable,
)
from tests.inbox.model_server import ModelServer, Said, a_model, saying, verdict
from tests.support.waiting import PATIENCE

MESSAGE = Incoming(sender="ann", subject="", text="You have WON", label="spam", digest="0" * 64)
QUESTION = "Is this message spam?"


def asking(server: ModelServer, *, timeout: float = PATIENCE, key: str = "") -> LanguageModel:
    return LanguageModel(url=server.url, model="small", key=key, timeout=timeout)


def judged_by(model: LanguageModel) -> dict[str, Any]:
    return model.judge(QUESTION, model.input_of(MESSAGE))


def test_its_verdict_comes_with_score_reasons_and_cost() -> None:
    with a_model(verdict(spam=True, score=0.93, reasons=("a prize", "a \0 \ud800"))) as server:
        model = asking(server)
        answer = judged_by(model)

    assert answer["spam"] is True
    assert answer["score"] == 0.93
    # What no database and no canonical JSON takes is replaced, not asked about.
    assert [reason["says"] for reason in answer["reasons"]] == [
        "a prize",
        "a \N{REPLACEMENT CHARACTER} ?",
    ]
    assert model.cost(answer) == {"requests": 1, "prompt_tokens": 100, "completion_tokens": 10}


def test_it_is_asked_for_structured_output_at_the_usual_path_with_its_key() -> None:
    with a_model(verdict()) as server:
        judged_by(asking(server, key="a-key"))

    (asked,) = server.asked
    assert asked["path"] == "/v1/chat/completions"
    assert asked["model"] == "small"
    assert asked["response_format"]["type"] == "json_schema"
    assert server.keys == ["Bearer a-key"]


def test_the_label_never_reaches_it() -> None:
    with a_model(verdict()) as server:
        judged_by(asking(server))

    sent = json.loads(server.asked[0]["messages"][1]["content"].partition("\n")[2])
    assert sent == {"sender": "ann", "subject": "", "text": "You have WON"}


def test_its_key_is_no_part_of_what_is_stored_or_printed() -> None:
    model = LanguageModel(url="http://127.0.0.1", model="small", key="a-key")

    assert "a-key" not in repr(model)
    assert "a-key" not in json.dumps(model.parameters)


@pytest.mark.parametrize("status", [429, 503])
def test_being_told_to_wait_is_obeyed(status: int) -> None:
    with (
        a_model(Said(status=status, headers={"Retry-After": "7"})) as server,
        pytest.raises(RetryLater) as told,
    ):
        judged_by(asking(server))

    assert told.value.after == timedelta(seconds=7)


def test_a_date_to_wait_for_is_understood() -> None:
    before = datetime.now(UTC).replace(microsecond=0)
    at = format_datetime(before + timedelta(minutes=2), usegmt=True)
    with (
        a_model(Said(status=429, headers={"Retry-After": at})) as server,
        pytest.raises(RetryLater) as told,
    ):
        judged_by(asking(server))

    spent = datetime.now(UTC) - before
    assert timedelta(minutes=2) - spent <= told.value.after <= timedelta(minutes=2)


@pytest.mark.parametrize("header", ["", "soon", "-5", "1e300", "nan", "inf"])
def test_a_senseless_retry_after_still_waits_within_bounds(header: str) -> None:
    with (
        a_model(Said(status=429, headers={"Retry-After": header})) as server,
        pytest.raises(RetryLater) as told,
    ):
        judged_by(asking(server))

    assert timedelta(seconds=1) <= told.value.after <= timedelta(hours=1)


@pytest.mark.parametrize("status", [408, 500, 502, 503])
def test_a_failing_model_is_unavailable(status: int) -> None:
    with a_model(Said(status=status)) as server, pytest.raises(ModelUnavailable):
        judged_by(asking(server))


def test_a_hanging_model_is_unavailable_after_the_timeout() -> None:
    with a_model(Said(hang=True)) as server, pytest.raises(ModelUnavailable, match="ReadTimeout"):
        judged_by(asking(server, timeout=0.2))


def test_a_model_that_cannot_be_reached_is_unavailable() -> None:
    with a_model(verdict()) as server:
        model = asking(server)

    with pytest.raises(ModelUnavailable):
        judged_by(model)


@pytest.mark.parametrize("status", [400, 401, 403, 404])
def test_a_definite_no_is_not_asked_again(status: int) -> None:
    with (
        a_model(Said(status=status, body="no such model")) as server,
        pytest.raises(ModelRefused, match="no such model"),
    ):
        judged_by(asking(server))


def test_a_key_that_no_header_can_carry_is_not_tried_again() -> None:
    with pytest.raises(ModelRefused, match="MODEL_KEY"):
        judged_by(LanguageModel(url="http://127.0.0.1:9/v1", model="small", key="clé"))


def test_an_answer_in_the_wrong_shape_is_asked_for_once_more_and_both_are_paid() -> None:
    with a_model(saying("Sure! It is spam."), verdict()) as server:
        model = asking(server)
        answer = judged_by(model)

    assert answer["spam"] is True
    assert model.cost(answer) == {"requests": 2, "prompt_tokens": 200, "completion_tokens": 20}


@pytest.mark.parametrize(
    "content",
    [
        "Sure! It is spam.",
        "[]",
        '{"spam": "yes", "score": 0.5, "reasons": []}',
        '{"spam": true, "score": 7, "reasons": []}',
        '{"spam": true, "score": NaN, "reasons": []}',
        '{"spam": true, "score": true, "reasons": []}',
        '{"spam": true, "score": 0.5, "reasons": [1]}',
        '{"spam": true, "score": 0.5}',
    ],
)
def test_an_answer_that_stays_malformed_is_never_guessed(content: str) -> None:
    with a_model(saying(content)) as server, pytest.raises(MalformedAnswer):
        judged_by(asking(server))

    assert len(server.asked) == 2


@pytest.mark.parametrize("body", ["<html>busy</html>", "[]", '{"error": "busy"}'])
def test_a_body_that_is_no_completion_is_no_answer(body: str) -> None:
    with a_model(Said(body=body)) as server, pytest.raises((ModelUnavailable, MalformedAnswer)):
        judged_by(asking(server))
