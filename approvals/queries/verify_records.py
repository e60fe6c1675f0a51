"""Whether each page that was shown to whoever answered is kept as it was, and none is gone (I13)."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

from approvals.models import Record
from runs.queries import verify
from runs.queries.verify_chain import told_under
from runs.rules import canonical
from runs.rules.violations import Violation


def register() -> None:
    verify.register(records_hold)


def records_hold(run_id: UUID) -> Iterator[Violation]:
    """The digests of the kept pages are those that the run's chain names, and fit their bytes."""
    kept: dict[str, Any] = {}
    for record in Record.objects.filter(run_id=run_id).order_by("pk").iterator(chunk_size=100):
        kept[record.digest] = record.decision_id
        if canonical.digest(record.sheet) != record.digest:
            yield _violation(run_id, record.decision_id, "is not what its digest was made of")
    told = {one["record"]: one.get("decision") for one in told_under(run_id, "record")}
    for digest, decision_id in kept.items():
        if digest not in told:
            yield _violation(run_id, decision_id, "is not named in the run's chain")
    for digest, decision_id in told.items():
        if digest not in kept:
            yield _violation(run_id, decision_id, "is gone")


def _violation(run_id: UUID, decision_id: Any, what: str) -> Violation:
    text = f"The page of decision {decision_id} as it was shown {what}."
    return Violation(invariant="I13", run=str(run_id), text=text)
