"""How long runs stood still after they had lost their worker: from its death to the next step's start."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median
from uuid import UUID

from django.db.models import Min, OuterRef, QuerySet, Subquery

from runs.models import Assignment, Run
from runs.rules.states import AssignmentState

MOST = 1_000
# What pages and commands speak of when they say how fast.
WINDOW = timedelta(days=7)
LEASE_IS_OVER = "its lease is over"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovery:
    """One run that was taken over, and when its next step's body was begun.

    `lost_at` is when the worker was seen to be gone; a worker that only its lease gave away was
    last heard of at its last renewal, so that counts.
    """

    run_id: UUID
    reference: str
    worker_id: UUID
    because: str
    lost_at: datetime
    taken_at: datetime
    began_at: datetime

    @property
    def seconds(self) -> float:
        return (self.began_at - self.lost_at).total_seconds()


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """In seconds; None where nothing has been lost."""

    count: int
    median: float | None
    maximum: float | None


def recoveries(
    *,
    since: datetime | None = None,
    run_ids: Iterable[UUID] | None = None,
    among: QuerySet[Run] | None = None,
    at_most: int = MOST,
) -> list[Recovery]:
    """The newest takeovers after which the run went on by itself, the newest first.

    Runs that a takeover parked, ended, or that nobody has claimed since, are not among them.
    """
    lost = Assignment.objects.filter(state=AssignmentState.LOST.value, worker__isnull=False)
    if since is not None:
        lost = lost.filter(closed_at__gte=since)
    if run_ids is not None:
        lost = lost.filter(run__in=list(run_ids))
    if among is not None:
        lost = lost.filter(run__in=among)
    rows = _with_what_followed(lost).order_by("-pk")[:at_most]
    return [_recovery(row) for row in rows]


def _with_what_followed(lost: QuerySet[Assignment]) -> QuerySet[Assignment]:
    """Each with the start of the assignment that the takeover itself placed."""
    after = Assignment.objects.filter(
        run=OuterRef("run"), pk__gt=OuterRef("pk"), placed_at__gte=OuterRef("closed_at")
    )
    first = after.order_by("pk").values("pk")[:1]
    began = (
        Assignment.objects.filter(pk=OuterRef("next"), reason=OuterRef("outcome"))
        .values("pk")
        .annotate(at=Min("claimed_at"))
        .values("at")
    )
    return (
        lost.annotate(next=Subquery(first))
        .annotate(began_at=Subquery(began))
        .filter(began_at__isnull=False)
        .select_related("worker", "run")
    )


def _recovery(row: Assignment) -> Recovery:
    worker = row.worker
    assert worker is not None  # noqa: S101 - filtered for
    assert row.closed_at is not None  # noqa: S101 - it is lost
    by_lease = row.outcome.startswith(LEASE_IS_OVER)
    seen_gone = worker.renewed_at if by_lease else worker.ended_at
    return Recovery(
        run_id=row.run_id,
        reference=row.run.reference,
        worker_id=worker.pk,
        because=row.outcome,
        lost_at=seen_gone or row.closed_at,
        taken_at=row.closed_at,
        began_at=row.began_at,  # type: ignore[attr-defined]
    )


def figures(found: Sequence[Recovery]) -> Figures:
    """Median and maximum, in seconds."""
    took = [each.seconds for each in found]
    return Figures(
        count=len(took),
        median=median(took) if took else None,
        maximum=max(took, default=None),
    )
