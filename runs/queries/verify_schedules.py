"""Whether each nominal time has one firing that says the truth, and each schedule a next time."""

from collections.abc import Iterator
from datetime import timedelta

from django.db.models import Count, Exists, OuterRef

from runs.models import Firing, Run, Schedule
from runs.queries.verify_subject import AT_ONCE
from runs.rules.schedules import FiringState
from runs.rules.violations import Violation

BEGUN = frozenset({FiringState.STARTED.value, FiringState.REPLACED.value})
# A called-off replacement keeps the link to the run that never began.
NEVER_BEGUN = frozenset({FiringState.QUEUED.value, FiringState.MISSED.value})


def firings_hold() -> Iterator[Violation]:
    """One row a nominal time, one run a row, under the start key of both."""
    rows = Firing.objects.select_related("run", "schedule").order_by("pk")
    for firing in rows.iterator(chunk_size=AT_ONCE):
        run = firing.run
        if ((firing.state in BEGUN) and run is None) or (firing.state in NEVER_BEGUN and run):
            yield _of(firing, f"is {firing.state}, and its run disagrees")
        if run is not None and run.start_key != _key(firing):
            yield _of(firing, f"names run {run.pk}, which was started for something else")
        if firing.tenant_id != firing.schedule.tenant_id:
            yield _of(firing, "belongs to another tenant than its schedule")


def schedules_hold() -> Iterator[Violation]:
    """No time behind the next one is left out, no run was started twice, a removed one is not due."""
    for schedule in Schedule.objects.order_by("pk").iterator(chunk_size=AT_ONCE):
        if schedule.removed_at is not None and schedule.due_at is not None:
            yield _violation(f"Schedule {schedule.slug} is removed and would still be due.")
        if schedule.next_at is not None and schedule.due_at is not None:
            most = timedelta(seconds=schedule.jitter)
            if not schedule.next_at <= schedule.due_at <= schedule.next_at + most:
                yield _violation(f"Schedule {schedule.slug} is not due at its next time.")
            ahead = Firing.objects.filter(
                schedule=schedule, by_hand=False, nominal_at__gte=schedule.next_at
            )
            if ahead.exists():
                yield _violation(f"Schedule {schedule.slug} has a firing ahead of its next time.")
    yield from _orphans()


def _orphans() -> Iterator[Violation]:
    """A run that bears a schedule's start key and has no firing was started without a record."""
    named = Firing.objects.filter(run=OuterRef("pk"))
    lost = Run.objects.filter(start_key__startswith="schedule:").exclude(Exists(named))
    for run in lost.order_by("pk")[:AT_ONCE]:
        yield _violation(f"Run {run.pk} was started by a schedule, and no firing names it.", run)
    twice = Firing.objects.exclude(run=None).values("run").annotate(rows=Count("pk"))
    for row in twice.filter(rows__gt=1)[:AT_ONCE]:
        yield _violation(f"Run {row['run']} is named by {row['rows']} firings.")


def _key(firing: Firing) -> str:
    return f"schedule:{firing.schedule_id}:{firing.nominal_at.isoformat()}"


def _of(firing: Firing, what: str) -> Violation:
    named = f"The firing of {firing.schedule.slug} at {firing.nominal_at.isoformat()}"
    return _violation(f"{named} {what}.")


def _violation(text: str, run: Run | None = None) -> Violation:
    return Violation(invariant="I14", run=str(run.pk) if run else "", text=text)
