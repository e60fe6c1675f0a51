"""Every write of the bundled workflows to their own rows, each inside a checkpoint of the run."""

from collections.abc import Iterable, Sequence
from uuid import UUID

from runs.definition import Judged
from runs.examples.inbox.index import Entry as Listed
from runs.examples.models import Entry, Judgement, Message

MESSAGE_FIELDS = ("message_id", "file", "sender", "subject", "text", "label")
JUDGEMENT_FIELDS = ("spam", "score", "reasons", "input_hash", "reused", "cost")


def keep_messages(run_id: UUID, listed: Iterable[Listed]) -> None:
    rows = [
        Message(
            run_id=run_id,
            ordinal=entry.ordinal,
            message_id=entry.id,
            file=entry.file,
            sender=entry.sender,
            subject=entry.subject,
            text=entry.text,
            label=entry.label,
        )
        for entry in listed
    ]
    # A replay of the step writes the same rows once more.
    Message.objects.bulk_create(
        rows,
        update_conflicts=True,
        unique_fields=["run_id", "ordinal"],
        update_fields=MESSAGE_FIELDS,
    )


def keep_judgements(run_id: UUID, judged: Iterable[tuple[Message, Judged]]) -> None:
    rows = [
        Judgement(
            message=message,
            run_id=run_id,
            ordinal=message.ordinal,
            spam=judgement.value["spam"],
            score=judgement.value["score"],
            reasons=judgement.value["reasons"],
            input_hash=judgement.input_hash,
            reused=judgement.reused,
            cost=dict(judgement.cost or {}),
        )
        for message, judgement in judged
    ]
    Judgement.objects.bulk_create(
        rows,
        update_conflicts=True,
        unique_fields=["run_id", "ordinal"],
        update_fields=JUDGEMENT_FIELDS,
    )


def put_entries(run_id: UUID, *, step: str, attempt: int, values: Sequence[int]) -> None:
    """These rows of a step, once, however often it writes them: a replay puts them anew."""
    Entry.objects.filter(run_id=run_id, step=step, ordinal__in=values).delete()
    keep_entries(run_id, step=step, attempt=attempt, values=values)


def keep_entries(run_id: UUID, *, step: str, attempt: int, values: Iterable[int]) -> None:
    Entry.objects.bulk_create(
        [
            Entry(run_id=run_id, step=step, ordinal=value, attempt=attempt, value=value)
            for value in values
        ]
    )
