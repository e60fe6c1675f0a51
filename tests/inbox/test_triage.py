"""The bundled workflow from end to end: an inbox in, approved deletions and a report out."""

import os
from email import message_from_bytes
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.conf import settings
from django.core.files.storage import default_storage
from django.db import DatabaseError
from pytest_django import Settings

from runs.definition import Judged
from runs.examples import ledger, queries
from runs.examples.inbox import mailbox
from runs.examples.inbox.scoring import Scoring
from runs.examples.models import Message
from runs.models import Artifact, Call
from tests.inbox import driving
from tests.inbox.builders import a_big_maildir, a_mail, a_maildir, a_tsv, everything_in
from tests.inbox.model_server import Said, a_model, verdict

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("_mail_into_a_folder", "_sound_afterwards"),
]

REAL = Path(os.environ.get("INBOX_DATA", "../shared/data/inbox.tsv"))
SAMPLE = Path("runs/examples/sample/inbox.tsv")
LURE = "You have WON a £900 prize! Call 09061701461 now to claim"


def mailbox_of(run_id: UUID) -> Path:
    return Path(settings.VAR_DIR) / "inboxes" / str(run_id)


def deleted_calls(run_id: UUID) -> int:
    return Call.objects.filter(run_id=run_id, effect="mailbox.delete", state="confirmed").count()


def test_an_inbox_is_sorted_approved_purged_and_reported(tmp_path: Path) -> None:
    run_id = driving.start("inbox_triage", inbox=str(SAMPLE))
    driving.work()
    assert driving.state_of(run_id) == "waiting"
    assert len(mailbox.listing(mailbox_of(run_id))) == 42

    approved = driving.approve(run_id)
    driving.work()

    summary = driving.facts_of(run_id)["summary"]
    assert driving.state_of(run_id) == "succeeded done"
    assert (summary["messages"], summary["spam"], summary["precision"]) == (42, 10, 1)
    assert deleted_calls(run_id) == approved == 10
    assert len(mailbox.listing(mailbox_of(run_id))) == 32
    (mail,) = (tmp_path / "mail").iterdir()
    assert "10 of 42 spam" in message_from_bytes(mail.read_bytes())["Subject"]


def test_a_message_that_the_approver_strikes_off_stays() -> None:
    run_id = driving.start("inbox_triage", inbox=str(SAMPLE))
    driving.work()
    spared = next(queries.spam_of(run_id)).message

    driving.approve(run_id, strike=[spared.message_id])
    driving.work()

    assert mailbox.find(mailbox_of(run_id), spared.file)
    assert deleted_calls(run_id) == 9
    assert driving.facts_of(run_id)["purged"]["struck_off"] == 1


def test_an_inbox_without_spam_asks_nobody(tmp_path: Path) -> None:
    source = a_tsv(tmp_path / "inbox.tsv", rows=(("ham", "See you at one"),))

    run_id = driving.start("inbox_triage", inbox=str(source))
    driving.work()

    assert driving.state_of(run_id) == "succeeded done"
    assert driving.facts_of(run_id)["summary"]["spam"] == 0


def test_the_source_is_left_alone_unless_it_is_worked_on_in_place(tmp_path: Path) -> None:
    source = a_maildir(tmp_path / "mails", a_mail(text=LURE), a_mail(text="See you at one"))
    before = everything_in(source)

    for in_place in (False, True):
        run_id = driving.start("inbox_triage", inbox=str(source), in_place=in_place)
        driving.work()
        driving.approve(run_id)
        driving.work()
        assert driving.state_of(run_id) == "succeeded done"
        assert (everything_in(source) == before) is not in_place

    assert len(mailbox.listing(source)) == 1


def test_a_malformed_line_fails_the_run_at_once_and_leaves_nothing(tmp_path: Path) -> None:
    source = a_tsv(tmp_path / "inbox.tsv", rows=(("ham", "fine"), ("eggs", "not fine")))

    run_id = driving.start("inbox_triage", inbox=str(source))
    driving.work()

    assert driving.state_of(run_id).startswith("failed")
    assert f"{source}, line 3: the label is 'eggs'" in driving.state_of(run_id)
    assert not mailbox_of(run_id).exists()
    assert queries.messages_of(run_id).count() == 0


def test_shuffled_labels_change_no_judgement(tmp_path: Path) -> None:
    rows = tuple(
        (line.split("\t")[0], line.split("\t")[1])
        for line in SAMPLE.read_text("utf-8").splitlines()[1:]
    )
    flipped = tuple(("ham" if label == "spam" else "spam", text) for label, text in rows)
    digests = []
    for name, labelled in (("true", rows), ("flipped", flipped)):
        source = a_tsv(tmp_path / f"{name}.tsv", rows=labelled)
        run_id = driving.start("inbox_triage", inbox=str(source))
        driving.work()
        digests.append(driving.facts_of(run_id)["judgements"]["digest"])

    assert digests[0] == digests[1]


def test_an_attempt_that_died_between_two_pages_judges_nothing_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("runs.examples.workflows.SHARD_SIZES", {"scoring": 10, "model": 10})
    kept = ledger.keep_judgements
    pages: list[int] = []

    def dying_on_the_third(run_id: UUID, judged: list[tuple[Message, Judged]]) -> None:
        pages.append(len(judged))
        if len(pages) == 3:
            raise DatabaseError("the connection went away, on purpose")
        kept(run_id, judged)

    asked: list[str] = []
    judge = Scoring.judge

    def asked_again(self: Scoring, question: str, seen: dict[str, str]) -> dict[str, Any]:
        asked.append(seen["text"])
        return judge(self, question, seen)

    monkeypatch.setattr(Scoring, "judge", asked_again)
    monkeypatch.setattr(ledger, "keep_judgements", dying_on_the_third)
    run_id = driving.start("inbox_triage", inbox=str(SAMPLE))
    driving.work()
    assert driving.open_wait(run_id).kind == "retry"
    driving.let_the_wait_fall_due(run_id)
    driving.work()

    assert pages == [10, 10, 10, 10, 10, 2]
    assert len(asked) == len(set(asked)) == 39
    assert queries.tally(run_id).messages == 42
    assert driving.facts_of(run_id)["judgements"]["count"] == 42


def test_the_reports_are_kept_as_artifacts() -> None:
    run_id = driving.start("inbox_triage", inbox=str(SAMPLE))
    driving.work()
    driving.approve(run_id)
    driving.work()

    kept = {artifact.name: artifact for artifact in Artifact.objects.filter(run_id=run_id)}

    assert set(kept) == {"report.html", "report.csv"}
    with default_storage.open(kept["report.csv"].path) as table:
        assert len(table.read().splitlines()) >= 43


def test_a_language_model_may_judge_and_its_cost_is_counted(
    settings: Settings, tmp_path: Path
) -> None:
    source = a_tsv(tmp_path / "inbox.tsv", rows=(("spam", "one"), ("ham", "two"), ("ham", "two")))
    with a_model(verdict(spam=True), verdict(spam=False)) as server:
        settings.MODEL_URL, settings.MODEL_NAME = server.url, "small"
        run_id = driving.start("inbox_triage", inbox=str(source), judge="model")
        driving.work()
        driving.approve(run_id)
        driving.work()

    summary = driving.facts_of(run_id)["summary"]
    assert (summary["spam"], summary["precision"], summary["recall"]) == (1, 1, 1)
    assert summary["cost"]["requests"] == len(server.asked) == 2


def test_a_model_that_asks_for_patience_parks_the_run(settings: Settings, tmp_path: Path) -> None:
    source = a_tsv(tmp_path / "inbox.tsv", rows=(("spam", "one"), ("ham", "two")))
    busy = Said(status=429, headers={"Retry-After": "40"})
    with a_model(verdict(spam=False), busy, verdict(spam=False)) as server:
        settings.MODEL_URL, settings.MODEL_NAME = server.url, "small"
        run_id = driving.start("inbox_triage", inbox=str(source), judge="model")
        driving.work()
        assert driving.open_wait(run_id).kind == "retry"
        driving.let_the_wait_fall_due(run_id)
        driving.work()

    assert driving.state_of(run_id) == "succeeded done"
    assert [one["messages"][1]["content"].count("one") for one in server.asked] == [1, 0, 0]


def test_a_model_without_an_address_is_refused_at_once() -> None:
    run_id = driving.start("inbox_triage", inbox=str(SAMPLE), judge="model")
    driving.work()

    assert "set MODEL_URL and MODEL_NAME" in driving.state_of(run_id)


@pytest.mark.timeout(600)
@pytest.mark.skipif(not REAL.exists(), reason=f"REAL INBOX MISSING: {REAL} (set INBOX_DATA)")
def test_the_real_inbox_meets_its_goal() -> None:
    run_id = driving.start("inbox_triage", inbox=str(REAL))
    driving.work()
    approved = driving.approve(run_id)
    driving.work()

    summary = driving.facts_of(run_id)["summary"]
    assert driving.state_of(run_id) == "succeeded done"
    assert summary["messages"] == 5574
    assert summary["precision"] >= 0.97
    assert summary["recall"] >= 0.88
    assert deleted_calls(run_id) == approved == summary["spam"]
    assert len(mailbox.listing(mailbox_of(run_id))) == 5574 - approved


@pytest.mark.long
@pytest.mark.timeout(1200)
def test_fifty_thousand_messages_hit_no_limit(tmp_path: Path) -> None:
    source = a_big_maildir(tmp_path / "mails", mails=50_000, spam=5_000)

    run_id = driving.start("inbox_triage", inbox=str(source))
    driving.work()
    assert driving.approve(run_id) == 5_000
    driving.work()

    summary = driving.facts_of(run_id)["summary"]
    assert driving.state_of(run_id) == "succeeded done"
    assert (summary["messages"], summary["precision"], summary["recall"]) == (50_000, 1, 1)
    assert deleted_calls(run_id) == 5_000
