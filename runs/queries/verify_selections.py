"""Whether what was done to runs together adds up: which they are, and what became of each."""

from collections.abc import Iterator
from typing import Any

from django.db.models import Count, F, Q

from runs.models import Selection
from runs.queries.verify_subject import AT_ONCE
from runs.rules.together import Outcome, SelectionState, Together
from runs.rules.violations import Violation

ENDED = frozenset({SelectionState.DONE, SelectionState.STOPPED})
LEFT = Q(items__outcome="")
HALF_TOLD = (
    Q(items__outcome="", items__at__isnull=False)
    | Q(items__outcome__gt="", items__at=None)
    | Q(items__outcome=Outcome.REFUSED.value, items__told="")
)
OF_ANOTHER_TENANT = Q(items__run__tenant__lt=F("tenant")) | Q(items__run__tenant__gt=F("tenant"))


def selections_hold() -> Iterator[Violation]:
    """Each in one state, with as many runs as were chosen, and a result of each when it is done."""
    # One statement: between two of them a selection is moved on, and would not agree with its runs.
    counted = Selection.objects.annotate(
        held=Count("items"),
        left=Count("items", filter=LEFT),
        half_told=Count("items", filter=HALF_TOLD),
        foreign=Count("items", filter=OF_ANOTHER_TENANT),
    )
    for selection in counted.order_by("pk").iterator(chunk_size=AT_ONCE):
        for what in (*_wrong_with(selection), *_wrong_with_runs(selection)):
            yield Violation(invariant="I12", run="", text=f"Selection {selection.pk} {what}.")


def _wrong_with(selection: Selection) -> Iterator[str]:
    state = selection.state
    times = (selection.begun_at is not None, selection.ended_at is not None)
    if times != (state != SelectionState.CHOSEN, state in ENDED):
        yield f"is {state}, and its times say otherwise"
    if bool(selection.stopped_by) != (state == SelectionState.STOPPED):
        yield f"is {state}, and who stopped it says otherwise"
    if selection.verb == Together.EXPORT and state != SelectionState.CHOSEN:
        yield f"is {state}, though it only takes its runs away as a file"


def _wrong_with_runs(selection: Any) -> Iterator[str]:
    if selection.held != selection.amount:
        yield f"was made of {selection.amount} runs, and holds {selection.held}"
    if selection.state == SelectionState.CHOSEN and selection.left != selection.held:
        yield f"was never begun, and {selection.held - selection.left} of its runs have a result"
    if selection.state == SelectionState.RUNNING and not selection.left:
        yield "is under way with nothing left to do, and would stay so"
    if selection.state == SelectionState.DONE and selection.left:
        yield f"is done, and {selection.left} of its runs have no result"
    if selection.half_told:
        yield f"tells half of what became of {selection.half_told} of its runs"
    if selection.foreign:
        yield f"holds {selection.foreign} runs of another tenant"
