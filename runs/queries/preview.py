"""The dry run of a posture on a stored run: its past is read, the rules say what would become of it."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from django.db.models import Count, QuerySet

from runs.definition import registry
from runs.models import Call, Judgement, Run, Step, Wait
from runs.queries.lineage import family_of, live_relative, waiting_restart
from runs.queries.plans import plan_by_hash
from runs.queries.starting_points import point_of, refusal_of, whole_steps_before
from runs.rules.postures import NotReplayable, Point, why_no_restart
from runs.rules.preview import MOST_SHOWN, Choice, Past, PastCall, PastStep, Preview, preview
from runs.rules.states import FINAL, UNSETTLED_CALLS, CallState, RunState, WaitKind, WaitState

GROUPED = ("step", "scope", "effect", "state", "unsent", "irreversible")
NAMED = (*GROUPED, "key", "resource")


def resume_preview(run: Run, *, refusal: str = "") -> Preview:
    """Go on where the run stands."""
    step = Step.objects.filter(run=run, key=run.step, superseded=False).first()
    choice = Choice(
        posture="resume",
        first=step.ordinal if step else 1,
        cursor=step.cursor_ordinal if step else 0,
        generation=run.generation,
        checkpoint=run.checkpoint,
    )
    return preview(plan_by_hash(run.plan_id), past_of(run), choice, refusal=refusal)


def replay_preview(run: Run, *, checkpoint: int, forget_judgements: bool = False) -> Preview:
    """Redo what stands behind a checkpoint, in a new generation."""
    refusal = refusal_of(run, checkpoint=checkpoint)
    point = _point(run, checkpoint)
    choice = Choice(
        posture="replay",
        first=point.first,
        cursor=point.cursor_ordinal,
        generation=run.generation + 1,
        checkpoint=checkpoint,
        forget_judgements=forget_judgements,
    )
    return preview(plan_by_hash(run.plan_id), past_of(run), choice, refusal=refusal)


def restart_preview(
    run: Run, *, checkpoint: int | None = None, abandon: Sequence[str] = ()
) -> Preview:
    """Begin anew under another id; behind a checkpoint, what is before it is copied."""
    refusal = why_no_restart_of(run, checkpoint=checkpoint, abandon=abandon)
    point = _point(run, checkpoint or 0)
    newest = run.version if checkpoint else _newest_version(run)
    choice = Choice(
        posture="restart",
        first=point.first,
        checkpoint=checkpoint or 0,
        version=newest if newest != run.version else None,
    )
    return preview(
        plan_by_hash(run.plan_id), past_of(run, with_relatives=True), choice, refusal=refusal
    )


def _newest_version(run: Run) -> int:
    """That of the code which is here; where there is none, restarting says so."""
    try:
        return int(registry.latest(run.workflow).version)
    except registry.UnknownWorkflow:
        return run.version


def _point(run: Run, checkpoint: int) -> Point:
    """Where it would begin; what cannot be begun from is shown from the start, and refused."""
    try:
        return point_of(run, checkpoint)
    except NotReplayable:
        return point_of(run, 0)


def why_no_restart_of(
    run: Run, *, checkpoint: int | None = None, abandon: Sequence[str] = ()
) -> str:
    """Why this run cannot be restarted now; empty when it can."""
    if checkpoint:
        try:
            whole_steps_before(run, checkpoint)
        except NotReplayable as refused:
            return str(refused)
    pending, other = waiting_restart(run.pk), live_relative(run)
    return why_no_restart(
        unsettled=unsettled_keys(run),
        abandoned=abandon,
        pending=str(pending.pk) if pending else "",
        instead=str(other.pk) if other else "",
        running=run.state == RunState.RUNNING,
        cancelling=is_being_cancelled(run),
    )


def is_being_cancelled(run: Run) -> bool:
    """Whether its holder ends it for good at its next checkpoint, and nobody takes its place."""
    requested = run.cancel_requested and not run.supersede_requested
    return requested and run.state == RunState.RUNNING


def unsettled_keys(run: Run) -> list[str]:
    """Calls of which nobody knows whether they happened; those of a final run stay as they are (R5)."""
    if RunState(run.state) in FINAL or run.state == RunState.RUNNING:
        return []
    return list(_unsettled(run).values_list("key", flat=True))


def _unsettled(run: Run) -> QuerySet[Call]:
    states = sorted(state.value for state in UNSETTLED_CALLS)
    return Call.objects.filter(run=run, state__in=states, unsent=False).order_by("id")


def past_of(run: Run, *, with_relatives: bool = False) -> Past:
    """What the run has come to, as dry runs need it."""
    mine = Call.objects.filter(run=run)
    steps = Step.objects.filter(run=run, superseded=False).order_by("ordinal")
    return Past(
        steps=[
            PastStep(
                key=step.key,
                state=step.state,
                generation=step.generation,
                cursor=step.cursor_ordinal,
            )
            for step in steps.only("key", "state", "generation", "cursor_ordinal", "ordinal")
        ],
        groups=_groups(mine),
        calls=[PastCall(**row) for row in mine.order_by("id").values(*NAMED)[:MOST_SHOWN]],
        relatives=_of_relatives(family_of(run)) if with_relatives else (),
        unsettled=[PastCall(**row) for row in _unsettled(run).values(*NAMED)],
        questions=_questions(run),
        judgements=_judgements(run),
    )


def _groups(calls: QuerySet[Call]) -> list[PastCall]:
    rows = calls.order_by().values(*GROUPED).annotate(amount=Count("pk"))
    return [PastCall(**row) for row in rows]


def _of_relatives(family: Iterable[UUID]) -> list[PastCall]:
    """What runs that stand for the same work have done outside, named as far as it is shown."""
    calls = Call.objects.filter(run__in=list(family), unsent=False)
    calls = calls.exclude(state=CallState.REFUSED.value).order_by("run", "id")
    rows: Iterable[dict[str, Any]] = calls.values(*NAMED, "run")
    return [PastCall(**{**row, "run": str(row["run"])}) for row in rows]


def _questions(run: Run) -> Counter[str]:
    known = (WaitState.RESOLVED.value, WaitState.OPEN.value)
    asked = Wait.objects.filter(
        run=run, kind=WaitKind.DECISION.value, state__in=known, name__startswith="ask "
    )
    return Counter(step for step, _ in asked.values_list("step", "name").distinct())


def _judgements(run: Run) -> dict[str, int]:
    rows = Judgement.objects.filter(run=run).order_by().values("scope")
    return {row["scope"]: row["amount"] for row in rows.annotate(amount=Count("pk"))}
