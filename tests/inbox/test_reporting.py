"""What people read of a triage: true counts, harmless cells, escaped strangers' text."""

import csv
import io
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from runs.definition import Judged
from runs.examples import ledger, queries
from runs.examples.inbox import report
from runs.examples.inbox.copying import INDEX, settle
from runs.examples.inbox.index import Index
from runs.examples.inbox.report import Row
from tests.inbox.builders import a_tsv

pytestmark = pytest.mark.django_db


def a_judged_run(
    folder: Path, *, called: dict[int, bool], rows: tuple[tuple[str, str], ...]
) -> UUID:
    run_id = uuid4()
    source = a_tsv(folder / "inbox.tsv", rows=rows)
    settle(source=source, folder=folder / "run", in_place=False, progress=lambda _: None)
    ledger.keep_messages(run_id, Index(folder / "run" / INDEX))
    reasons = [{"rule": "prize", "points": 5, "says": "speaks of a prize"}]
    judged = [
        (
            message,
            Judged(
                value={"spam": called[message.ordinal], "score": 12, "reasons": reasons},
                input_hash="h" * 64,
                reused=False,
            ),
        )
        for message in queries.messages_of(run_id)
    ]
    ledger.keep_judgements(run_id, judged)
    return run_id


FOUR = (("spam", "one"), ("spam", "two"), ("ham", "three"), ("ham", "four"))


def test_precision_and_recall_are_counted_from_the_labels(tmp_path: Path) -> None:
    run_id = a_judged_run(tmp_path, called={1: True, 2: False, 3: True, 4: False}, rows=FOUR)

    summary = report.summary_of(queries.tally(run_id), purged={"confirmed": 2}, cost={})

    assert (summary["messages"], summary["spam"], summary["ham"]) == (4, 2, 2)
    assert (summary["precision"], summary["recall"]) == (0.5, 0.5)


def test_without_labels_no_quality_is_claimed(tmp_path: Path) -> None:
    run_id = uuid4()

    summary = report.summary_of(queries.tally(run_id), purged={}, cost={})

    assert (summary["labelled"], summary["precision"], summary["recall"]) == (0, None, None)


def test_writing_the_same_rows_again_leaves_them_once(tmp_path: Path) -> None:
    run_id = a_judged_run(tmp_path, called=dict.fromkeys(range(1, 5), True), rows=FOUR)
    before = queries.digest_of_judgements(run_id)

    ledger.keep_messages(run_id, Index(tmp_path / "run" / INDEX))

    assert queries.tally(run_id).messages == 4
    assert queries.digest_of_judgements(run_id) == before


def test_the_digest_tells_two_judgements_apart(tmp_path: Path) -> None:
    digests = set()
    for name, said in (("a", True), ("b", False)):
        (tmp_path / name).mkdir()
        called = {1: said, 2: True, 3: True, 4: True}
        digests.add(
            queries.digest_of_judgements(a_judged_run(tmp_path / name, called=called, rows=FOUR))
        )

    assert len(digests) == 2


def test_a_reused_judgement_costs_nothing_again(tmp_path: Path) -> None:
    run_id = a_judged_run(tmp_path, called=dict.fromkeys(range(1, 5), True), rows=FOUR)
    messages = list(queries.messages_of(run_id))
    value = {"spam": True, "score": 1, "reasons": []}
    paid = Judged(value=value, input_hash="h", reused=False, cost={"requests": 1})
    again = Judged(value=value, input_hash="h", reused=True, cost={"requests": 1})

    ledger.keep_judgements(run_id, [(messages[0], paid), (messages[1], paid), (messages[2], again)])

    assert queries.cost_of(run_id) == {"requests": 2}


def test_the_report_says_which_messages_are_gone(tmp_path: Path) -> None:
    run_id = a_judged_run(tmp_path, called={1: True, 2: True, 3: False, 4: False}, rows=FOUR)
    first = queries.messages_of(run_id)[0]
    (tmp_path / "run" / first.file).unlink()

    rows = list(report.rows_of(run_id, mailbox=tmp_path / "run"))

    assert [row.outcome for row in rows] == ["deleted", "kept", "kept", "kept"]


def test_evidence_shows_sender_text_score_and_reasons(tmp_path: Path) -> None:
    run_id = a_judged_run(tmp_path, called={1: True, 2: False, 3: False, 4: False}, rows=FOUR)

    (evidence,) = [report.evidence_of(judgement) for judgement in queries.spam_of(run_id)]

    assert evidence == {
        "from": "not given",
        "subject": "",
        "text": "one",
        "score": 12.0,
        "reasons": ["speaks of a prize (+5)"],
    }


def a_row(text: str) -> Row:
    return Row(
        ordinal=1,
        message_id="000001-abc",
        sender="",
        label="",
        spam=True,
        score=-4,
        reasons="",
        outcome="kept",
        text=text,
    )


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@x", "\t=1"])
def test_no_cell_of_the_table_is_a_formula(text: str) -> None:
    (row,) = csv.DictReader(io.StringIO(report.csv_of([a_row(text)])))

    assert row["text"] == f"'{text}"
    assert row["score"] == "-4"


def test_the_page_escapes_what_strangers_wrote() -> None:
    summary = {"messages": 1, "spam": 1, "ham": 0, "labelled": 0, "calls": {}, "cost": {}}

    page = report.html_of(
        "T-1", manifest={"source": "<inbox>"}, summary=summary, rows=[a_row("<script>x</script>")]
    )

    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert "&lt;inbox&gt;" in page
