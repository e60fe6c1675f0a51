"""Whether runs that stand for the same work say the same of each other (R5, R17, I10)."""

from collections.abc import Iterator

from django.db.models import Q

from runs.models import Assignment, AuditEvent, Run
from runs.queries.verify_subject import Subject, read
from runs.rules.states import RunState
from runs.rules.violations import Violation


def lineage_holds(subject: Subject) -> Iterator[Violation]:
    """A superseded run has an heir that was not called off; a request to supersede has one that waits."""
    run = subject.run
    if subject.state is RunState.SUPERSEDED:
        heirs = Run.objects.filter(Q(restart_of=run) | Q(pk__in=_told_heirs(run)))
        # One that was cancelled before it was placed took nobody's place.
        stands = heirs.exclude(state=RunState.CANCELLED.value).exists()
        if not stands and not Assignment.objects.filter(run__in=heirs).exists():
            yield subject.violates("I10", "It is superseded, and no run took its place.")
    if run.supersede_requested and subject.state is not RunState.RUNNING and not subject.final:
        yield subject.violates(
            "R17", f"It is {subject.state.value}, and is still asked to be superseded."
        )


def _told_heirs(run: Run) -> list[str]:
    """Who took its place as its own chain says: one run may take the place of several."""
    rows = AuditEvent.objects.filter(run=run, kind="run.superseded").exclude(body="")
    told = [read(body) or {} for body in rows.values_list("body", flat=True)]
    return [one["restarted_as"] for one in told if one.get("restarted_as")]
