"""Which invariants a drill broke: on the database, at the receiver, among the processes."""

from collections.abc import Iterator

from runs.management.drills.findings import Found
from runs.queries import drilling
from runs.queries.verify import violations
from runs.rules.states import RunState
from runs.rules.violations import Violation


def broken(found: Found) -> list[Violation]:
    """Every invariant that does not hold: on the database, at the receiver, among the processes."""
    return [
        *violations(found.run_ids, files=True),
        *_at_the_receiver(found),
        *_back(found),
        *_bad_ends(found),
        *(
            Violation(invariant="R27", run="", text=f"A process was left over: {name}.")
            for name in found.left_over
        ),
    ]


def _at_the_receiver(found: Found) -> Iterator[Violation]:
    known = {call.key: call for call in found.calls}
    for key, times in found.done.items():
        call = known.get(key)
        run = str(call.run_id) if call else ""
        if times > 1:
            text = (
                f"The receiver did {call.effect if call else 'a call'} {times} times under {key}."
            )
            yield Violation(invariant="I5", run=run, text=text)
        if call is None:
            text = f"The receiver was sent {key}, which no run has named."
            yield Violation(invariant="I4", run="", text=text)
        elif call.irreversible and not call.authority:
            text = f"{call.effect} for {call.resource} was done without an approval."
            yield Violation(invariant="I7", run=run, text=text)
    for call in drilling.confirmed(found.calls):
        if call.key not in found.done:
            text = f"{call.effect} for {call.resource} is confirmed, and the receiver never did it."
            yield Violation(invariant="I6", run=str(call.run_id), text=text)


def _back(found: Found) -> Iterator[Violation]:
    for run_id, step in drilling.cursors_that_went_back(found.run_ids):
        yield Violation(invariant="I8", run=str(run_id), text=f"The cursor of {step} went back.")


def _bad_ends(found: Found) -> Iterator[Violation]:
    for each in found.played:
        if each.ended == "stuck":
            text = f"{each.role.name} stands still: {each.state} {each.reason}".strip()
            yield Violation(invariant="I11", run=str(each.run_id), text=text)
        elif each.ended == "ended" and each.state != RunState.SUCCEEDED.value:
            text = f"{each.role.name} ended {each.state}: {each.reason}"
            yield Violation(invariant="I2", run=str(each.run_id), text=text)
