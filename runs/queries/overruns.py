"""Which limits a body is past that nobody could interrupt, so that its worker was, or must be, ended."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from runs.models import Assignment, Call, Run, Step
from runs.queries.plans import plan_by_hash
from runs.queries.workers import identity_of
from runs.rules.identity import ProcessIdentity
from runs.rules.limits import Breach, Cause, Limit
from runs.rules.plan import PlanStep
from runs.rules.states import UNSETTLED_CALLS, AssignmentState, RunState


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitedStep:
    """A body that runs under a timeout; `since` is told by its fence and attempt, not by a clock."""

    run_id: UUID
    step: str
    fence: int
    timeout: timedelta
    identity: ProcessIdentity


def limited_steps() -> list[LimitedStep]:
    """Every step that is running now and declares a timeout."""
    running = Run.objects.filter(state=RunState.RUNNING.value).select_related("worker")
    return [
        LimitedStep(
            run_id=run.pk,
            step=run.step,
            fence=run.fence,
            timeout=timedelta(seconds=timeout),
            identity=identity_of(run.worker),
        )
        for run in running
        if (timeout := plan_by_hash(run.plan_id).step(run.step).timeout) is not None
    ]


def overruns(run: Run, *, now: datetime) -> Iterator[Breach]:
    """The limits that the body in flight of a run was past when its worker was lost."""
    planned = plan_by_hash(run.plan_id).step(run.step)
    step = Step.objects.filter(run=run, key=run.step, superseded=False).first()
    claim = Assignment.objects.filter(run=run, state=AssignmentState.CLAIMED.value).first()
    if step is None or claim is None or step.started_at is None or claim.claimed_at is None:
        return
    assert claim.fence is not None  # noqa: S101 - it is claimed
    # The body was entered with its claim, or with its step.
    began = max(step.started_at, claim.claimed_at)
    if planned.timeout is not None and (now - began).total_seconds() > planned.timeout:
        yield Breach(
            limit=Limit.STEP,
            trigger=f"step {run.step}",
            elapsed=(now - began).total_seconds(),
            allowed=planned.timeout,
            cause=Cause.DESIGN,
        )
    yield from _calls_past_their_timeout(run, planned, fence=claim.fence, now=now)


def _calls_past_their_timeout(
    run: Run, planned: PlanStep, *, fence: int, now: datetime
) -> Iterator[Breach]:
    timeouts = {effect.name: effect.timeout for effect in planned.effects}
    states = [state.value for state in UNSETTLED_CALLS]
    under_way = Call.objects.filter(run=run, step=run.step, fence=fence, state__in=states)
    for call in under_way.filter(unsent=False):
        allowed, took = timeouts.get(call.effect), (now - call.sent_at).total_seconds()
        if allowed is not None and took > allowed:
            yield Breach(
                limit=Limit.CALL,
                trigger=f"call {call.effect} for {call.resource}",
                elapsed=took,
                allowed=allowed,
                cause=Cause.DEPENDENCY,
            )
