"""Stop a run whose deadline is over, or have a person asked, and give it a longer one."""

from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction

from runs.definition import gates
from runs.ledger import assignments, buffers, lifecycle, overstaying, transitions
from runs.ledger.commits import commits
from runs.models import Artifact, Run, Step, Wait
from runs.queries.clock import db_now
from runs.queries.limits import HELD_UP, deadline_of
from runs.queries.plans import plan_by_hash
from runs.rules import canonical
from runs.rules.chain import Draft
from runs.rules.fence import Fence
from runs.rules.limits import Deadline, length
from runs.rules.policy import Actor, Verb, require
from runs.rules.states import AssignmentState, RunState, StepState, WaitState
from runs.rules.written import ArtifactStored, StepPlace, Written

THE_CLOCK = "the clock"


class NoDeadline(Exception):
    """This run's workflow declares no deadline, so there is none to raise."""


class DeadlineTooShort(ValueError):
    """The new deadline is not longer than the one the run has, or than what it has used already."""


@commits("limit_committed", when=bool)
def stop_held(
    fence: Fence, *, place: StepPlace, written: Written, progress: ArtifactStored
) -> bool:
    """The fence's holder stops its run at the deadline; False when it was raised meanwhile."""
    with transaction.atomic():
        run, now = transitions.hold(fence), db_now()
        buffers.store_what_stays(fence, place, written, with_artifacts=False, now=now)
        if run.cancel_requested:
            lifecycle.stop_held(run, fence, now=now)
            return True
        standing = deadline_of(run.pk)
        if standing is None or not standing.is_over:
            return False
        _stop(run, standing, progress, actor=str(fence.worker_id), fence=fence.number, now=now)
    return True


@commits("limit_committed", when=bool)
def stop_unheld(run_id: UUID, *, progress: ArtifactStored) -> bool:
    """The clock stops a run in nobody's hands; False when it has moved on, or has time left."""
    with transaction.atomic():
        run, now = transitions.lock(run_id), db_now()
        standing = deadline_of(run.pk)
        if run.state not in (RunState.QUEUED, RunState.WAITING) or _is_held_up(run):
            return False
        if standing is None or not standing.is_over:
            return False
        _stop(run, standing, progress, actor=THE_CLOCK, fence=0, now=now)
    return True


def _is_held_up(run: Run) -> bool:
    """It asks a person, or has not begun: it stands ready to take another run's place."""
    open_waits = Wait.objects.filter(run=run, state=WaitState.OPEN.value)
    return open_waits.filter(kind__in=HELD_UP).exists()


def _stop(
    run: Run,
    standing: Deadline,
    progress: ArtifactStored,
    *,
    actor: str,
    fence: int,
    now: datetime,
) -> None:
    reason = _reason(standing, progress)
    _keep(run, progress, now=now)
    _withdraw_wait(run, because=reason, now=now)
    if plan_by_hash(run.plan_id).on_deadline == "ask":
        overstaying.ask(run, standing, progress, actor=actor, fence=fence, now=now)
        return
    Step.objects.filter(run=run, key=run.step, superseded=False).exclude(
        state=StepState.SUCCEEDED.value
    ).update(
        state=StepState.FAILED.value,
        error_class="DeadlineOver",
        error=reason,
        ended_at=now,
        fence=run.fence,
    )
    assignments.close(run.pk, to=AssignmentState.RELEASED, outcome="its deadline is over", now=now)
    failed = {"reason": reason, "error_class": "DeadlineOver", "artifact": progress.name}
    transitions.move(
        run,
        to=RunState.FAILED,
        events=[
            standing.breach().event(step=run.step, then=RunState.FAILED.value),
            Draft(kind="run.failed", step=run.step, body=canonical.dumps(failed)),
            lifecycle.line(run, state=RunState.FAILED, reason=reason, in_flight=run.step),
        ],
        now=now,
        actor=actor,
        fence=fence,
        reason=reason,
        pause_requested=False,
        paused_with=None,
    )


def _reason(standing: Deadline, progress: ArtifactStored) -> str:
    return (
        f"Its deadline is over: {standing}. What it has come to is kept as {progress.name}; "
        "resume it with a longer deadline."
    )


def _keep(run: Run, progress: ArtifactStored, *, now: datetime) -> None:
    Artifact.objects.update_or_create(
        run=run,
        step=run.step,
        generation=run.generation,
        name=progress.name,
        defaults={
            "media_type": progress.media_type,
            "path": progress.path,
            "size": progress.size,
            "digest": progress.digest,
            "fence": run.fence,
            "at": now,
        },
    )


def _withdraw_wait(run: Run, *, because: str, now: datetime) -> None:
    """A body that is entered again opens it anew, under the same name."""
    withdrawn = Wait.objects.filter(run=run, state=WaitState.OPEN.value).update(
        state=WaitState.WITHDRAWN.value, closed_at=now, closed_by=THE_CLOCK, fence=run.fence
    )
    if withdrawn:
        for kind in gates.registered():
            gates.gate_for(kind).withdraw(run.pk, because)


def raise_deadline(actor: Actor, run: Run, *, to: timedelta, now: datetime) -> None:
    """Give a locked run another deadline, inside the caller's transaction.

    Counted like the declared one: since the start, without the time spent waiting for people or
    paused (R9). Raises NoDeadline, DeadlineTooShort.
    """
    require(actor, Verb.OPERATE)
    standing = deadline_of(run.pk)
    if standing is None:
        raise NoDeadline(
            f"Workflow {run.workflow} declares no deadline, so there is none to raise."
        )
    if to <= standing.used:
        raise DeadlineTooShort(
            f"Run {run.reference} has used {length(standing.used.total_seconds())} already; "
            f"a deadline of {length(to.total_seconds())} would stop it at once. Give it more."
        )
    if to <= standing.allowed:
        raise DeadlineTooShort(
            f"Run {run.reference} has {length(standing.allowed.total_seconds())} already; "
            "a deadline is only made longer."
        )
    body = {
        "from": standing.allowed.total_seconds(),
        "to": to.total_seconds(),
        "used": round(standing.used.total_seconds(), 3),
    }
    raised = Draft(kind="deadline.raised", body=canonical.dumps(body))
    transitions.note(run, events=[raised], now=now, actor=actor.name, deadline=to.total_seconds())
    run.deadline = to.total_seconds()
