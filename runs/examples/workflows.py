"""The bundled workflow: sort an inbox, delete what a person agrees is spam, report."""

from dataclasses import asdict
from datetime import timedelta
from math import ceil
from pathlib import Path
from typing import Annotated, Literal

from runs.definition import Approval, Contract, Effect, Heartbeat, Judge, Retry, Run, Workflow, step
from runs.examples import ledger, queries, ten_steps, verbs
from runs.examples.conf import surroundings
from runs.examples.inbox import mailbox, mailer, report
from runs.examples.inbox.copying import INDEX, settle
from runs.examples.inbox.incoming import UnreadableInbox
from runs.examples.inbox.index import Index
from runs.examples.inbox.language_model import LanguageModel, ModelRefused
from runs.examples.inbox.scoring import Scoring

__all__ = ["InboxTriage", "ten_steps", "verbs"]

ROWS_AT_ONCE = 500
MOST_SHARDS = 2000
SAMPLE = Path(__file__).parent / "sample" / "inbox.tsv"
SHARD_SIZES = {"scoring": 250, "model": 20}

delete = Effect(
    "mailbox.delete",
    send=mailbox.delete,
    contract=Contract("Deleting a message that is gone answers 'gone'.", window=None),
    timeout=timedelta(seconds=10),
    id_of=lambda answer: answer["id"],
)
mail_report = Effect(
    "smtp.send",
    send=mailer.send,
    probe=mailer.find,
    timeout=timedelta(seconds=30),
    reversible="A second report under the same Message-ID does no harm.",
    id_of=lambda answer: answer["id"],
)


class InboxTriage(Workflow):
    """Sort an inbox, delete what a person agrees is spam, report."""

    name, version = "inbox_triage", 1
    drilled_with = {"inbox": str(SAMPLE)}
    deadline = timedelta(hours=12)
    heartbeat = Heartbeat(
        every=timedelta(seconds=30), grace=timedelta(minutes=2), progress=timedelta(minutes=10)
    )

    class Input:
        inbox: Annotated[str, "Path of a TSV, CSV or mbox file, or of a Maildir folder."]
        in_place: Annotated[bool, "Delete from this Maildir itself instead of from a copy."] = False
        judge: Annotated[
            Literal["scoring", "model"],
            "Who judges: named rules, or the language model at MODEL_URL.",
        ] = "scoring"
        report_to: Annotated[str, "Who gets the report by mail."] = "inbox-owner@localhost"

    @step(
        reads=["inbox", "in_place", "judge"],
        writes=["manifest"],
        retry=Retry(give_up_on=(UnreadableInbox, ModelRefused)),
        timeout=timedelta(hours=1),
        files="The copy is built aside and renamed whole; a second attempt takes the one that stands.",
    )
    def prepare(self, run: Run) -> None:
        """Copy the inbox into a Maildir of this run, and list its messages."""
        judge_named(run.read("judge"))
        folder = surroundings().inboxes / str(run.id)
        manifest = settle(
            source=place_of(run.read("inbox")),
            folder=folder,
            in_place=run.read("in_place"),
            progress=run.progress,
        )
        for page in run.pages(Index(folder / INDEX), size=ROWS_AT_ONCE):
            with run.checkpoint(cursor=page.end):
                ledger.keep_messages(run.id, page)
        run.write("manifest", asdict(manifest))

    @step(reads=["manifest", "judge"], writes=["shards"])
    def shard(self, run: Run) -> None:
        """Divide the messages into shards, each judged between two checkpoints."""
        count = run.read("manifest")["count"]
        size = max(SHARD_SIZES[run.read("judge")], ceil(count / MOST_SHARDS))
        starts = range(1, count + 1, size)
        shards = [{"first": first, "last": min(first + size - 1, count)} for first in starts]
        run.write("shards", shards)

    @step(
        reads=["manifest", "judge", "shards"],
        writes=["judgements"],
        retry=Retry(attempts=5, give_up_on=(ModelRefused,)),
        timeout=timedelta(hours=8),
    )
    def classify(self, run: Run) -> None:
        """Judge every message, a shard at a time; the label is never shown to the judge."""
        count, size = run.read("manifest")["count"], run.read("shards")[0]["last"]
        judge = judge_named(run.read("judge"))
        for page in run.pages(queries.messages_of(run.id), size=size):
            judged = [
                (message, run.judge("Is this message spam?", message, by=judge)) for message in page
            ]
            with run.checkpoint(cursor=page.end):
                ledger.keep_judgements(run.id, judged)
            run.progress(page.end.ordinal, count)
        run.write(
            "judgements",
            {
                "count": queries.tally(run.id).messages,
                "digest": queries.digest_of_judgements(run.id),
            },
        )

    @step(reads=["manifest", "judgements"], writes=["deletions"])
    def propose(self, run: Run) -> None:
        """Plan one deletion for every message that was judged spam, with the evidence."""
        where = run.read("manifest")["mailbox"]
        for judgement in queries.spam_of(run.id):
            message = judgement.message
            run.plan(
                "deletions",
                delete,
                resource=message.message_id,
                request={"mailbox": where, "id": message.message_id, "file": message.file},
                evidence=report.evidence_of(judgement),
            )

    @step(
        reads=["deletions"],
        writes=["purged"],
        effects=[delete],
        approval=Approval(
            of="deletions", groups=("approvers",), expires=timedelta(days=3), on_expiry="cancel"
        ),
        timeout=timedelta(hours=2),
    )
    def purge(self, run: Run) -> None:
        """Delete exactly the messages that a person approved."""
        run.write("purged", dict(run.apply("deletions")))

    @step(reads=["manifest", "judgements", "purged"], writes=["summary"])
    def summarize(self, run: Run) -> None:
        """Count, and compare with the labels where the inbox has them."""
        tally, cost = queries.tally(run.id), queries.cost_of(run.id)
        run.write("summary", report.summary_of(tally, purged=run.read("purged"), cost=cost))

    @step(
        reads=["manifest", "summary", "report_to"],
        writes=["reports"],
        effects=[mail_report],
    )
    def deliver(self, run: Run) -> None:
        """Write the report as HTML and CSV, and mail the summary."""
        summary, manifest = run.read("summary"), run.read("manifest")
        rows = list(report.rows_of(run.id, mailbox=Path(manifest["mailbox"])))
        page = report.html_of(run.reference, manifest=manifest, summary=summary, rows=rows)
        run.write(
            "reports",
            [
                run.artifact("report.html", page.encode("utf-8"), "text/html"),
                run.artifact("report.csv", report.csv_of(rows).encode("utf-8"), "text/csv"),
            ],
        )
        run.call(
            mail_report,
            resource="report",
            request=report.mail_of(
                run.reference,
                summary=summary,
                sender=surroundings().sender,
                to=run.read("report_to"),
            ),
        )


def place_of(inbox: str) -> Path:
    if not inbox.strip():
        raise UnreadableInbox("no inbox is named: say the path of a file or of a Maildir")
    try:
        return Path(inbox).expanduser().absolute()
    except RuntimeError as error:
        raise UnreadableInbox(f"{inbox}: there is no such user's home") from error


def judge_named(name: str) -> Judge:
    if name == "scoring":
        return Scoring()
    found = surroundings()
    if not found.model_url or not found.model_name:
        raise ModelRefused("to judge by a language model, set MODEL_URL and MODEL_NAME")
    return LanguageModel(url=found.model_url, model=found.model_name, key=found.model_key)
