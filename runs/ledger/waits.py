"""Parking a run: a wait is opened, and closed once."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from runs.conf import CHECKPOINT_SCHEMA
from runs.definition import gates
from runs.ledger import assignments, buffers, events, lifecycle, openings, posting, transitions
from runs.ledger.commits import commits
from runs.models import Checkpoint, Event, Run, Step, Wait
from runs.queries.clock import db_now
from runs.rules import canonical
from runs.rules.chain import Draft
from runs.rules.fence import Fence
from runs.rules.limits import Breach
from runs.rules.relaying import Relayed
from runs.rules.states import AssignmentState, RunState, StepState, WaitKind, WaitState
from runs.rules.written import StepPlace, WaitDraft, Written


class WaitClosed(Exception):
    """This wait has been answered, has expired or was withdrawn; look who was first."""

    def __init__(self, wait: Wait) -> None:
        when = f"{wait.closed_at:%Y-%m-%d %H:%M:%S} UTC" if wait.closed_at else "just now"
        super().__init__(f"Already {wait.state} by {wait.closed_by or 'the clock'} at {when}.")
        self.wait = wait


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """An attempt that ended in an error, which the wait that follows it keeps."""

    error_class: str
    error: str
    counts: bool
    resets: bool = False
    breach: Breach | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Parked:
    """Whether the run is parked, or goes on at once because the answer was there already."""

    wait_id: int
    answer: str | None


@commits("parked", when=lambda parked: parked.answer is None)
def park(
    fence: Fence,
    *,
    place: StepPlace,
    wait: WaitDraft,
    written: Written,
    failure: Failure | None = None,
    relayed: Sequence[Relayed] = (),
) -> Parked:
    """Open a wait and let the worker go, in one commit with what stays of the attempt.

    When an event has come before its wait, the wait is closed with it and the body goes on; so it
    does when no call that is `relayed` is left to send.
    Planned calls and named keys are the accepted attempt's: they wait for its checkpoint (R3).
    """
    with transaction.atomic():
        if wait.kind == WaitKind.EVENT:
            events.meet(fence.tenant_id, wait.event_name, wait.correlation_id)
        run, now = transitions.hold(fence), db_now()
        buffers.store_what_stays(fence, place, written, with_artifacts=failure is None, now=now)
        if run.cancel_requested:
            # Nobody would make the requested move on a run that waits (R17).
            lifecycle.stop_held(run, fence, now=now)
            parked = Parked(wait_id=0, answer=None)
        elif relayed and not _left_to_couriers(run, fence, place, relayed, now=now):
            parked = Parked(wait_id=0, answer="{}")
        else:
            parked = _park(run, fence, place, wait, failure, now=now)
    if parked.answer is None:
        written.clear()
    else:
        written.clear_what_stays()
    return parked


def _left_to_couriers(
    run: Run, fence: Fence, place: StepPlace, relayed: Sequence[Relayed], *, now: datetime
) -> bool:
    posting.put(run, fence, place, relayed, now=now)
    return posting.is_awaited(run)


def _park(
    run: Run,
    fence: Fence,
    place: StepPlace,
    wait: WaitDraft,
    failure: Failure | None,
    *,
    now: datetime,
) -> Parked:
    opened = openings.open_wait(run, place, wait, now=now)
    event = events.kept_for(run, opened)
    if event is not None:
        use_event(run, opened, event, now=now, fence=fence.number)
        return Parked(wait_id=opened.pk, answer=opened.answer)
    _park_run(run, fence, place, opened, failure, now=now)
    return Parked(wait_id=opened.pk, answer=None)


def _park_run(
    run: Run,
    fence: Fence,
    place: StepPlace,
    opened: Wait,
    failure: Failure | None,
    *,
    now: datetime,
) -> None:
    step = Step.objects.get(run=run, key=place.key, generation=place.generation)
    _park_step(step, fence, failure)
    assignments.close(
        run.pk,
        to=AssignmentState.RELEASED,
        outcome=f"waits: {opened.kind} {opened.name}"[:300],
        now=now,
    )
    _checkpoint(run, step, opened, now=now)
    gates.gate_for(opened.kind).open(openings.opened_wait(run, opened))
    transitions.move(
        run,
        to=RunState.WAITING,
        events=_park_events(run, place, opened, failure),
        now=now,
        actor=str(fence.worker_id),
        fence=fence.number,
        checkpoint=run.checkpoint + 1,
        reason=run.reason if run.pause_requested else "",
    )
    if run.pause_requested:
        lifecycle.end_paused(
            run, because=run.reason, actor=str(fence.worker_id), now=now, fence=fence.number
        )


def _park_step(step: Step, fence: Fence, failure: Failure | None) -> None:
    step.state, step.fence = StepState.WAITING.value, fence.number
    if failure is not None:
        step.error_class, step.error = failure.error_class, failure.error
        step.failures = 0 if failure.resets else step.failures + int(failure.counts)
    step.save(update_fields=["state", "fence", "error_class", "error", "failures"])


def _checkpoint(run: Run, step: Step, opened: Wait, *, now: datetime) -> None:
    last = Checkpoint.objects.filter(run=run).order_by("-number").first()
    Checkpoint.objects.create(
        run=run,
        number=run.checkpoint + 1,
        step=step.key,
        generation=step.generation,
        finished=False,
        cursor_ordinal=step.cursor_ordinal,
        cursor_token=step.cursor_token,
        plan_hash=run.plan_id,
        version=run.version,
        schema=CHECKPOINT_SCHEMA,
        fence=run.fence,
        keys_count=last.keys_count if last else 0,
        keys_digest=last.keys_digest if last else "",
        output_digest=last.output_digest if last else "",
        awaiting=f"{opened.kind} {opened.name}"[:300],
        at=now,
    )


def _park_events(run: Run, place: StepPlace, opened: Wait, failure: Failure | None) -> list[Draft]:
    drafts = []
    if failure is not None and failure.breach is not None:
        drafts.append(failure.breach.event(step=place.key, then=RunState.WAITING.value))
    if failure is not None:
        body = {
            "error_class": failure.error_class,
            "error": failure.error,
            "counts": failure.counts,
        }
        drafts.append(Draft(kind="step.attempt_failed", step=place.key, body=canonical.dumps(body)))
    body = {
        "wait": opened.name,
        "kind": opened.kind,
        "due_at": opened.due_at.isoformat() if opened.due_at else None,
        "on_due": opened.on_due,
    }
    drafts.append(Draft(kind="run.parked", step=place.key, body=canonical.dumps(body)))
    if opened.kind == WaitKind.DECISION:
        drafts.append(
            lifecycle.line(
                run,
                state=RunState.WAITING,
                reason=f"waits for a decision: {opened.name}",
                in_flight=place.key,
            )
        )
    return drafts


def lock_open(wait_id: int) -> tuple[Run, Wait]:
    """An open wait and its run, held until the caller's transaction ends; WaitClosed otherwise."""
    seen = Wait.objects.get(pk=wait_id)
    # Run row first, then the wait: cancelling takes them in this order, the reverse deadlocks.
    run = transitions.lock(seen.run_id)
    wait = Wait.objects.select_for_update(no_key=True).get(pk=wait_id)
    if wait.state != WaitState.OPEN:
        raise WaitClosed(wait)
    return run, wait


def close(
    run: Run, wait: Wait, *, to: WaitState, answer: str | None, by: str, now: datetime
) -> None:
    """Close a held wait once, with its one answer; WaitClosed when somebody was first (I13)."""
    moved = Wait.objects.filter(pk=wait.pk, state=WaitState.OPEN.value).update(
        state=to.value,
        answer=answer,
        answer_digest=canonical.digest(answer) if answer is not None else "",
        closed_by=by,
        closed_at=now,
        fence=run.fence,
    )
    if not moved:
        raise WaitClosed(Wait.objects.get(pk=wait.pk))
    wait.state, wait.answer, wait.closed_by, wait.closed_at = to.value, answer, by, now


def use_event(run: Run, wait: Wait, event: Event, *, now: datetime, fence: int) -> None:
    """Close a held wait with the event that came for it, which is used by nobody else."""
    events.mark_used(run, wait, event, now=now, fence=fence)
    by = event.source or "event"
    close(run, wait, to=WaitState.RESOLVED, answer=event.payload, by=by, now=now)
