"""The page on which a verb is used on a run: how it stands, what would happen, what is in doubt."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from runs.models import Run
from runs.queries.fleet import movable, paused_together
from runs.queries.in_doubt import calls_in_doubt
from runs.queries.limits import deadline_of_run
from runs.queries.pages_run import visible_run
from runs.queries.plans import plan_by_hash
from runs.queries.preview import resume_preview
from runs.queries.verbs import seen_as, stands_of
from runs.queries.why import why_of
from runs.rules import canonical
from runs.rules.corrections import read_before
from runs.rules.inputs import Field
from runs.rules.policy import Actor, Verb, may
from runs.rules.preview import Preview
from runs.rules.states import RunState
from runs.rules.verbs import RunVerb, what_happens, why_not
from runs.rules.why import Why


@dataclass(frozen=True, slots=True, kw_only=True)
class MovePage:
    """`seen` is what the form sends along, so that nobody acts on a run that has moved on."""

    run: Run
    verb: RunVerb
    why: Why
    refusal: str
    happens: str
    seen: str
    in_doubt: Sequence[dict[str, Any]]
    preview: Preview | None
    deadline_is_over: bool
    fields: Sequence[Field]
    values: dict[str, Any]
    read_before: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class AllPage:
    """How many runs a verb on all of them would move."""

    amount: int
    running: int


def move_page(actor: Actor, run_id: UUID, verb: RunVerb) -> MovePage | None:
    run = visible_run(actor, run_id)
    if run is None:
        return None
    stands = stands_of(run)
    refusal = why_not(verb, stands)
    deadline = deadline_of_run(run) if verb is RunVerb.RESUME else None
    corrects = verb is RunVerb.CORRECT and not refusal
    visible = may(actor, Verb.VIEW_PAYLOADS)
    plan = plan_by_hash(run.plan_id)
    names = [field.name for field in plan.input_fields]
    return MovePage(
        run=run,
        verb=verb,
        why=why_of(run),
        refusal=refusal,
        happens="" if refusal else what_happens(verb, stands),
        seen=seen_as(run),
        in_doubt=calls_in_doubt(run.pk),
        preview=None if refusal or verb is not RunVerb.RESUME else resume_preview(run),
        deadline_is_over=deadline is not None and deadline.is_over,
        fields=plan.input_fields if corrects else (),
        values=canonical.loads(run.input) if corrects and visible else {},
        read_before=read_before(plan, fields=names, ordinal=run.step_ordinal) if corrects else (),
    )


def pausable(actor: Actor) -> AllPage:
    return _all(movable(actor, tenant_id=None))


def resumable(actor: Actor) -> AllPage:
    return _all(paused_together(actor, tenant_id=None))


def _all(rows: Any) -> AllPage:
    running = rows.filter(state=RunState.RUNNING.value).count()
    return AllPage(amount=rows.count(), running=running)
