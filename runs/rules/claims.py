"""What a worker gets with a claim, and what it hands in with each commit."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from runs.rules.chain import Draft
from runs.rules.fence import Fence


@dataclass(frozen=True, slots=True, kw_only=True)
class Pull:
    """A doorbell that a statement rings by itself, unless `enough` unread ones hang under `key`."""

    key: str
    message: str
    enough: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimed:
    """A run in a worker's hands, at the step it goes on with."""

    fence: Fence
    workflow: str
    version: int
    plan_hash: str
    reference: str
    input: str
    generation: int
    checkpoint: int
    cancel_requested: bool
    pause_requested: bool
    reason: str
    step: "StepBegun"


@dataclass(frozen=True, slots=True, kw_only=True)
class StepBegun:
    """The row of a step whose body is about to be entered."""

    key: str
    scope: str
    ordinal: int
    generation: int
    attempt: int
    failures: int
    crashes: int
    cursor_ordinal: int = 0
    cursor_token: str = ""


def claimed_from(row: Sequence[Any], *, worker_id: UUID, number: int, attempt: int) -> Claimed:
    """The claim that a database row makes; both databases select the same columns in order."""
    (assignment, reason, run, tenant, _, _, _, workflow, version, plan_hash, *rest) = row
    (reference, data, generation, checkpoint, cancel, pause, _, key, scope, *rest) = rest
    (ordinal, step_generation, _, failures, crashes, cursor_ordinal, cursor_token) = rest
    return Claimed(
        fence=Fence(
            run_id=run if isinstance(run, UUID) else UUID(run),
            tenant_id=tenant,
            worker_id=worker_id,
            assignment_id=assignment,
            number=number,
        ),
        workflow=workflow,
        version=version,
        plan_hash=plan_hash,
        reference=reference,
        input=data,
        generation=generation,
        checkpoint=checkpoint,
        cancel_requested=bool(cancel),
        pause_requested=bool(pause),
        reason=reason,
        step=StepBegun(
            key=key,
            scope=scope,
            ordinal=ordinal,
            generation=step_generation,
            attempt=attempt,
            failures=failures,
            crashes=crashes,
            cursor_ordinal=cursor_ordinal,
            cursor_token=cursor_token,
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class NextStep:
    key: str
    scope: str
    ordinal: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RunDraft:
    """A run about to be started, with its first step; `body` is that of its first event."""

    id: UUID
    tenant: str
    workflow: str
    version: int
    plan_hash: str
    reference: str
    labels: str
    start_key: str | None
    input: str
    input_digest: str
    started_by: str
    step: NextStep
    steps_total: int
    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Advance:
    """One commit of a running step: a page of it, the whole of it, or the end of its run.

    `events` are written in order; the last one is left out when a request to cancel or pause
    keeps `next_step` from starting.
    """

    step: str
    generation: int
    finished: bool
    facts: str
    facts_digest: str
    cursor_ordinal: int
    cursor_token: str
    keys_count: int
    keys_digest: str
    plan_hash: str
    version: int
    next_step: NextStep | None
    ends_run: bool
    outcome: str = ""
    events: Sequence[Draft] = field(default_factory=tuple)


@dataclass(frozen=True, slots=True, kw_only=True)
class Advanced:
    """What the commit found: its checkpoint's number and what has been asked meanwhile.

    `taken` is the run that its worker holds next, where it asked for one and there was one.
    """

    checkpoint: int
    cancel_requested: bool
    pause_requested: bool
    taken: Claimed | None = None
