"""Why a run went on after it had stood still: who let it, where from, and what was kept."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from django.db.models import Max

from runs.models import Assignment, Checkpoint, Run
from runs.queries.plans import plan_by_hash
from runs.queries.why import name_of
from runs.rules.states import AssignmentState

MOST = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class WentOn:
    """One claim after the first: trigger, worker, fence, checkpoint, cursor, what was kept."""

    at: datetime
    trigger: str
    reason: str
    step: str
    worker: str
    fence: int | None
    lost: bool
    checkpoint: int
    cursor: int
    kept_steps: int
    kept_keys: int


def assignments_of(run: Run) -> list[Assignment]:
    """The newest of them, the oldest of these first."""
    newest = Assignment.objects.filter(run=run).select_related("worker").order_by("-pk")
    return list(reversed(newest[:MOST]))


def went_on(run: Run, assignments: Sequence[Assignment], *, most: int = MOST) -> list[WentOn]:
    """A line for each time, the newest `most` of them; two queries, however many lines."""
    pairs = list(pairwise(assignments))[-most:]
    if not pairs:
        return []
    ends = _last_checkpoints(run)
    fences = [fence for fence, _ in ends]
    numbers = [_before(one.fence, fences, ends) for _, one in pairs]
    rows = Checkpoint.objects.filter(run=run, number__in={*numbers})
    known = {row.number: row for row in rows}
    ordinals = {step.key: step.ordinal for step in plan_by_hash(run.plan_id).steps}
    return [
        _line(before, one, known.get(number), ordinals.get(one.from_step, 1))
        for (before, one), number in zip(pairs, numbers, strict=True)
    ]


def _last_checkpoints(run: Run) -> list[tuple[int, int]]:
    """The last checkpoint that each fence has written, in the order of the fences."""
    rows = Checkpoint.objects.filter(run=run).values_list("fence").annotate(last=Max("number"))
    return sorted(rows)


def _before(fence: int | None, fences: Sequence[int], ends: Sequence[tuple[int, int]]) -> int:
    """The checkpoint that a claim under this fence began behind; 0 when there was none."""
    at = len(ends) if fence is None else bisect_left(fences, fence)
    return ends[at - 1][1] if at else 0


def _line(
    before: Assignment, one: Assignment, checkpoint: Checkpoint | None, ordinal: int
) -> WentOn:
    inside = checkpoint is not None and checkpoint.step == one.from_step and not checkpoint.finished
    return WentOn(
        at=one.placed_at,
        trigger=_trigger(before, one),
        reason=one.reason,
        step=one.from_step,
        worker=name_of(one.worker),
        fence=one.fence,
        lost=before.state == AssignmentState.LOST,
        checkpoint=checkpoint.number if checkpoint else 0,
        cursor=checkpoint.cursor_ordinal if checkpoint and inside else 0,
        kept_steps=ordinal - 1,
        kept_keys=checkpoint.keys_count if checkpoint else 0,
    )


def _trigger(before: Assignment, one: Assignment) -> str:
    """In one word: a person's verb, a takeover, or the kind of wait that was closed."""
    verb = one.reason.split(" ", 1)[0]
    if verb in ("resumed", "replayed", "restarted"):
        return {"resumed": "resume", "replayed": "replay", "restarted": "restart"}[verb]
    if before.state == AssignmentState.LOST:
        return "takeover"
    if before.outcome.startswith("waits: "):
        return before.outcome.split(" ")[1]
    return "hand-back"
