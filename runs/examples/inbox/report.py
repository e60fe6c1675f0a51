"""What people read: the evidence of a deletion, the summary, the report as page, table and mail."""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.template.loader import render_to_string

from runs.examples import queries
from runs.examples.inbox import mailbox as maildir
from runs.examples.queries import Tally

if TYPE_CHECKING:
    from runs.examples.models import Judgement

MOST_SHOWN = 500
MOST_EVIDENCE = 2_000
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One message as the report shows it."""

    ordinal: int
    message_id: str
    sender: str
    label: str
    spam: bool
    score: float
    reasons: str
    outcome: str
    text: str


def evidence_of(judgement: "Judgement") -> dict[str, Any]:
    message = judgement.message
    return {
        "from": message.sender or "not given",
        "subject": message.subject,
        "text": message.text[:MOST_EVIDENCE],
        "score": judgement.score,
        "reasons": [_said(reason) for reason in judgement.reasons],
    }


def summary_of(
    tally: Tally, *, purged: Mapping[str, int], cost: Mapping[str, int]
) -> dict[str, Any]:
    return {
        "messages": tally.messages,
        "spam": tally.spam,
        "ham": tally.messages - tally.spam,
        "labelled": tally.labelled,
        "precision": tally.precision,
        "recall": tally.recall,
        "calls": dict(purged),
        "cost": dict(cost),
    }


def rows_of(run_id: UUID, *, mailbox: Path) -> Iterator[Row]:
    there = maildir.listing(mailbox)
    for judgement in queries.judged_of(run_id):
        message = judgement.message
        gone = maildir.unique_name(message.file) not in there
        yield Row(
            ordinal=message.ordinal,
            message_id=message.message_id,
            sender=message.sender,
            label=message.label,
            spam=judgement.spam,
            score=judgement.score,
            reasons="; ".join(_said(reason) for reason in judgement.reasons),
            outcome="deleted" if gone else "kept",
            text=message.text,
        )


def html_of(
    reference: str, *, manifest: Mapping[str, Any], summary: Mapping[str, Any], rows: Sequence[Row]
) -> str:
    suspects = [row for row in rows if row.spam]
    facts = {
        "reference": reference,
        "manifest": manifest,
        "summary": summary,
        "shown": suspects[:MOST_SHOWN],
        "left_out": max(0, len(suspects) - MOST_SHOWN),
    }
    return render_to_string("examples/report.html", facts)


def csv_of(rows: Sequence[Row]) -> str:
    table = io.StringIO()
    writer = csv.writer(table)
    writer.writerow(
        ("ordinal", "id", "from", "label", "judged", "score", "reasons", "outcome", "text")
    )
    for row in rows:
        judged = "spam" if row.spam else "ham"
        before = (row.ordinal, row.message_id, _harmless(row.sender), row.label, judged)
        writer.writerow((*before, row.score, row.reasons, row.outcome, _harmless(row.text)))
    return table.getvalue()


def mail_of(reference: str, *, summary: Mapping[str, Any], sender: str, to: str) -> dict[str, str]:
    lines = [
        f"Inbox triage {reference} is done.",
        "",
        f"Messages: {summary['messages']}",
        f"Judged spam: {summary['spam']}",
        f"Judged ham: {summary['ham']}",
        *(f"Deletions {outcome}: {count}" for outcome, count in sorted(summary["calls"].items())),
    ]
    if summary["labelled"]:
        lines += ["", f"Labelled: {summary['labelled']}"]
        lines += [
            f"{name.capitalize()}: {_percent(summary[name])}" for name in ("precision", "recall")
        ]
    lines += [f"{name}: {spent}" for name, spent in sorted(summary["cost"].items())]
    lines += ["", "The whole report is kept with the run, as a page and as a table."]
    return {
        "from": sender,
        "to": to,
        "subject": f"Inbox triage {reference}: {summary['spam']} of {summary['messages']} spam",
        "text": "\n".join(lines) + "\n",
    }


def _said(reason: Mapping[str, Any]) -> str:
    points = reason.get("points")
    return reason["says"] if points is None else f"{reason['says']} ({points:+d})"


def _percent(share: float | None) -> str:
    return "not defined" if share is None else f"{share:.1%}"


def _harmless(cell: str) -> str:
    """A spreadsheet must not take a stranger's text for a formula."""
    return f"'{cell}" if cell.startswith(FORMULA_STARTS) else cell
