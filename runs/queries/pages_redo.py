"""The pages on which a run is replayed or restarted: what would happen, from where, beside what else."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from runs.models import Run
from runs.queries.lineage import restarts_of
from runs.queries.pages_run import visible_run
from runs.queries.preview import replay_preview, restart_preview, resume_preview
from runs.queries.starting_points import points_of
from runs.queries.verbs import seen_as
from runs.queries.why import why_of
from runs.rules.policy import Actor
from runs.rules.postures import Point
from runs.rules.preview import Preview
from runs.rules.states import FINAL, RunState
from runs.rules.why import Why


@dataclass(frozen=True, slots=True, kw_only=True)
class RedoPage:
    """`beside` is the dry run of going on where the run stands, to compare with."""

    run: Run
    verb: Literal["replay", "restart"]
    why: Why
    seen: str
    points: Sequence[Point]
    checkpoint: int
    preview: Preview
    beside: Preview | None


def replay_page(
    actor: Actor, run_id: UUID, *, checkpoint: int | None, forget_judgements: bool
) -> RedoPage | None:
    """Without a checkpoint the last whole step that stands is proposed."""
    run = visible_run(actor, run_id)
    if run is None:
        return None
    points = points_of(run)
    chosen = points[-1].number if checkpoint is None else checkpoint
    preview = replay_preview(run, checkpoint=chosen, forget_judgements=forget_judgements)
    return _page(run, "replay", points, chosen, preview)


def restart_page(actor: Actor, run_id: UUID, *, checkpoint: int | None) -> RedoPage | None:
    run = visible_run(actor, run_id)
    if run is None:
        return None
    preview = restart_preview(run, checkpoint=checkpoint or None)
    return _page(run, "restart", points_of(run), checkpoint or 0, preview)


def _page(
    run: Run,
    verb: Literal["replay", "restart"],
    points: Sequence[Point],
    checkpoint: int,
    preview: Preview,
) -> RedoPage:
    return RedoPage(
        run=run,
        verb=verb,
        why=why_of(run),
        seen=seen_as(run),
        points=points,
        checkpoint=checkpoint,
        preview=preview,
        beside=None if RunState(run.state) in FINAL else resume_preview(run),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Lineage:
    """The run that this one was begun in place of, and those that were begun in place of it."""

    before: Run | None
    after: Sequence[Run]


def lineage_of(actor: Actor, run: Run) -> Lineage:
    before = visible_run(actor, run.restart_of_id) if run.restart_of_id else None
    return Lineage(before=before, after=restarts_of(run.pk))
