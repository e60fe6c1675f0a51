"""Every read of the bundled workflows from their own rows."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from uuid import UUID

from django.db.models import Count, QuerySet, Sum

from runs.examples.models import Entry, Judgement, Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """How a run judged, and how that agrees with the labels where there are any."""

    messages: int
    spam: int
    labelled: int
    right_spam: int
    labelled_spam: int
    called_spam: int

    @property
    def precision(self) -> float | None:
        return _share(self.right_spam, self.called_spam)

    @property
    def recall(self) -> float | None:
        return _share(self.right_spam, self.labelled_spam)


def messages_of(run_id: UUID) -> QuerySet[Message]:
    return Message.objects.filter(run_id=run_id).order_by("pk")


def judged_of(run_id: UUID) -> Iterator[Judgement]:
    found = Judgement.objects.filter(run_id=run_id).select_related("message")
    return found.order_by("ordinal").iterator(chunk_size=1000)


def spam_of(run_id: UUID) -> Iterator[Judgement]:
    found = Judgement.objects.filter(run_id=run_id, spam=True).select_related("message")
    return found.order_by("ordinal").iterator(chunk_size=1000)


def tally(run_id: UUID) -> Tally:
    groups = (
        Judgement.objects.filter(run_id=run_id)
        .values("spam", "message__label")
        .annotate(how_many=Count("pk"))
        .order_by()
    )
    found = {(row["spam"], row["message__label"]): row["how_many"] for row in groups}

    def counted(*, spam: tuple[bool, ...] = (True, False), labels: tuple[str, ...]) -> int:
        return sum(found.get((said, label), 0) for said in spam for label in labels)

    return Tally(
        messages=sum(found.values()),
        spam=counted(spam=(True,), labels=("", "ham", "spam")),
        labelled=counted(labels=("ham", "spam")),
        right_spam=counted(spam=(True,), labels=("spam",)),
        labelled_spam=counted(labels=("spam",)),
        called_spam=counted(spam=(True,), labels=("ham", "spam")),
    )


def cost_of(run_id: UUID) -> dict[str, int]:
    """What the judgements cost together; one that was reused cost nothing again."""
    spent: Counter[str] = Counter()
    paid = Judgement.objects.filter(run_id=run_id, reused=False).exclude(cost={})
    for cost in paid.values_list("cost", flat=True).iterator(chunk_size=2000):
        spent.update(cost)
    return dict(spent)


def digest_of_judgements(run_id: UUID) -> str:
    """One digest over every judgement in order: what the fact holds instead of the rows."""
    digest = sha256()
    rows = Judgement.objects.filter(run_id=run_id).order_by("ordinal")
    for row in rows.values_list("ordinal", "input_hash", "spam", "score").iterator(chunk_size=2000):
        digest.update(repr(row).encode("utf-8"))
    return digest.hexdigest()


def entries_of(run_id: UUID) -> QuerySet[Entry]:
    return Entry.objects.filter(run_id=run_id).order_by("ordinal")


def sum_of_entries(run_id: UUID, *, step: str = "") -> int:
    """Of a whole run, or of one step of it."""
    rows = Entry.objects.filter(run_id=run_id, **({"step": step} if step else {}))
    return rows.aggregate(total=Sum("ordinal"))["total"] or 0


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None
