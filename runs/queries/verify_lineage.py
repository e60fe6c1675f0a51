"""Whether runs that stand for the same work say the same of each other (R5, R17, I10)."""

from collections.abc import Iterator

from runs.models import Assignment, Run
from runs.queries.verify_subject import Subject
from runs.rules.states import RunState
from runs.rules.violations import Violation


def lineage_holds(subject: Subject) -> Iterator[Violation]:
    """A superseded run has an heir that was not called off; a request to supersede has one that waits."""
    run = subject.run
    if subject.state is RunState.SUPERSEDED:
        heirs = Run.objects.filter(restart_of=run)
        # One that was cancelled before it was placed took nobody's place.
        stands = heirs.exclude(state=RunState.CANCELLED.value).exists()
        if not stands and not Assignment.objects.filter(run__in=heirs).exists():
            yield subject.violates("I10", "It is superseded, and no run took its place.")
    if run.supersede_requested and subject.state is not RunState.RUNNING and not subject.final:
        yield subject.violates(
            "R17", f"It is {subject.state.value}, and is still asked to be superseded."
        )
