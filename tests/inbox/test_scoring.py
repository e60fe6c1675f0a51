"""The transparent judge finds spam by reasons that a person can check, and never sees a label."""

import os
import random
import time
from dataclasses import replace
from pathlib import Path

import pytest

from runs.examples.inbox.incoming import Incoming
from runs.examples.inbox.readers import read
from runs.examples.inbox.reasons import REASONS
from runs.examples.inbox.scoring import SPAM_AT, Scoring, score

SAMPLE = Path("runs/examples/sample/inbox.tsv")
REAL = Path(os.environ.get("INBOX_DATA", "../shared/data/inbox.tsv"))


def judged(messages: list[Incoming]) -> list[object]:
    judge = Scoring()
    return [judge.judge("spam?", judge.input_of(message)) for message in messages]


def quality(messages: list[Incoming]) -> tuple[float, float]:
    called = [message for message in messages if score(message.text).spam]
    right = sum(message.label == "spam" for message in called)
    return right / len(called), right / sum(message.label == "spam" for message in messages)


def test_every_reason_that_made_a_score_is_named_with_its_points() -> None:
    found = score("You have WON a £900 prize! Call 09061701461 now to claim")

    assert found.spam
    assert found.points == sum(int(reason["points"]) for reason in found.reasons)
    assert {"prize", "money", "premium_number"} <= {reason["rule"] for reason in found.reasons}


def test_a_friend_is_no_spammer() -> None:
    found = score("I'm home, call me when you're free. Love you")

    assert not found.spam


def test_no_single_reason_condemns_a_message() -> None:
    assert max(reason.points for reason in REASONS) < SPAM_AT


def test_no_message_can_hold_the_judge_up() -> None:
    hostile = [
        "a" * 20_000,
        "1" * 20_000,
        "£1" * 10_000,
        "txt to " * 3_000,
        "reply - " * 2_500,
        " " * 20_000,
    ]

    # Its own time on the processor: others may have that meanwhile.
    started = time.thread_time()
    for text in hostile:
        score(text)

    assert time.thread_time() - started < 3


def test_shuffled_labels_give_identical_judgements() -> None:
    messages = list(read(SAMPLE))
    labels = [message.label for message in messages]
    random.Random(7).shuffle(labels)  # noqa: S311 (no secret depends on it)
    shuffled = [replace(m, label=label) for m, label in zip(messages, labels, strict=True)]

    assert judged(shuffled) == judged(messages)


def test_the_sample_is_judged_well() -> None:
    precision, recall = quality(list(read(SAMPLE)))

    assert precision == 1.0
    assert recall >= 0.9


@pytest.mark.skipif(not REAL.exists(), reason=f"REAL INBOX MISSING: {REAL} (set INBOX_DATA)")
def test_the_real_inbox_is_judged_well() -> None:
    messages = list(read(REAL))

    precision, recall = quality(messages)

    assert len(messages) == 5574
    assert precision >= 0.97, f"precision {precision:.4f}, recall {recall:.4f}"
    assert recall >= 0.88, f"precision {precision:.4f}, recall {recall:.4f}"
