"""Whether every run is in exactly one pair of hands, or waits for one thing (I3, I10, I11)."""

from collections.abc import Iterator, Sequence
from datetime import timedelta

from django.db.models import Max

from runs.models import (
    Artifact,
    Assignment,
    Call,
    Judgement,
    LogLine,
    Message,
    PlannedCall,
    Wait,
)
from runs.queries.clock import db_now
from runs.queries.verify_subject import Subject
from runs.rules.states import (
    AssignmentState,
    DeliveryState,
    RunState,
    WaitKind,
    WaitState,
    WorkerState,
)
from runs.rules.violations import Violation

# So long may a takeover take: fence raised, process killed, death waited for.
TAKEOVER_TAKES = timedelta(seconds=60)
# What keeps a run of each state from standing still unseen: claimed, placed, open wait.
KEPT_BY: dict[RunState, tuple[int, int, int]] = {
    RunState.RUNNING: (1, 0, 0),
    RunState.QUEUED: (0, 1, 0),
    RunState.WAITING: (0, 0, 1),
}
FENCED = (Call, PlannedCall, Judgement, Artifact, LogLine)


def stands_by_one_thing(subject: Subject) -> Iterator[Violation]:
    """One claim, one placed assignment, one open wait, or a written reason; never two, never none."""
    claimed = _in(subject, AssignmentState.CLAIMED)
    placed = _in(subject, AssignmentState.PLACED)
    waits = [wait for wait in subject.waits if wait.state == WaitState.OPEN]
    found = (len(claimed), len(placed), len(waits))
    waits_paused = subject.state is RunState.PAUSED and found == (0, 0, 1)
    if found != KEPT_BY.get(subject.state, (0, 0, 0)) and not waits_paused:
        yield subject.violates(
            "I10" if subject.final else "I11",
            f"It is {subject.state.value} with {found[0]} claimed and {found[1]} placed "
            f"assignments and {found[2]} open waits.",
        )
    if subject.state in (RunState.FAILED, RunState.PAUSED) and not subject.run.reason:
        yield subject.violates("I11", f"It is {subject.state.value} without a reason.")
    if subject.state is RunState.RUNNING and claimed:
        yield from _in_hands(subject, claimed[0])
    for wait in waits:
        yield from _has_a_way_out(subject, wait)


def _in(subject: Subject, state: AssignmentState) -> Sequence[Assignment]:
    return [one for one in subject.assignments if one.state == state]


def _in_hands(subject: Subject, claim: Assignment) -> Iterator[Violation]:
    run, worker = subject.run, subject.run.worker
    if worker is None or claim.worker_id != run.worker_id:
        yield subject.violates("I3", "It runs in other hands than its assignment says.")
        return
    live = worker.state == WorkerState.LIVE
    since = worker.ended_at or worker.lease_until
    if not live and since < db_now() - TAKEOVER_TAKES:
        yield subject.violates(
            "I11", f"It runs on a worker that is {worker.state} since {since:%Y-%m-%d %H:%M:%S}."
        )
    # A takeover raises the fence before it places the run again (R22).
    if claim.fence != run.fence and (live or (claim.fence or 0) > run.fence):
        yield subject.violates(
            "I3", f"Its fence is {run.fence}, and that of its claimed assignment {claim.fence}."
        )


def _has_a_way_out(subject: Subject, wait: Wait) -> Iterator[Violation]:
    if wait.step != subject.run.step:
        yield subject.violates("I11", f"It stands at {subject.run.step} and waits in {wait.step}.")
    by_clock = wait.kind in (WaitKind.TIMER, WaitKind.RETRY)
    if by_clock and (wait.due_at is None or wait.on_due != "resume"):
        yield subject.violates("I11", f"Nothing will ever close the {wait.kind} {wait.name}.")
    # The last of its messages to be put away closes it, in one transaction.
    if wait.kind == WaitKind.RELAY and not _is_left_to_a_courier(subject):
        yield subject.violates("I11", f"No courier has what the {wait.kind} {wait.name} waits for.")


def _is_left_to_a_courier(subject: Subject) -> bool:
    pending = Message.objects.filter(run=subject.run, state=DeliveryState.PENDING.value)
    return pending.filter(call__isnull=False).exists()


def fences_are_in_order(subject: Subject) -> Iterator[Violation]:
    """Nothing of a run was written under a fence that the run never reached."""
    run = subject.run
    highest = {
        model.__name__: model.objects.filter(run=run).aggregate(fence=Max("fence"))["fence"]
        for model in FENCED
    }
    for name, rows in (("Step", subject.steps), ("Wait", subject.waits)):
        highest[name] = max((row.fence for row in rows), default=0)
    for name, fence in highest.items():
        if (fence or 0) > run.fence:
            yield subject.violates(
                "I3", f"A {name} has the fence {fence}; the run's newest is {run.fence}."
            )
    claims = [one.fence for one in subject.assignments if one.fence is not None]
    if claims != sorted(set(claims)) or (claims and claims[-1] > run.fence):
        yield subject.violates("I3", f"The fences of its claims do not rise: {claims}.")
