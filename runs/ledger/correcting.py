"""The input of a run that stands still is corrected; what it has done already stays done."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction

from runs.definition import registry
from runs.ledger import holding, transitions
from runs.ledger.commits import commits
from runs.models import Run
from runs.queries.clock import db_now
from runs.queries.plans import plan_by_hash
from runs.rules import canonical, inputs
from runs.rules.chain import Draft
from runs.rules.corrections import Change, changes_between, read_before
from runs.rules.policy import Actor
from runs.rules.verbs import RunVerb

KIND = "run.input_corrected"


class NothingToCorrect(ValueError):
    """The run has exactly this input already."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Corrected:
    """What was changed, and the finished steps that have read the old values and are kept."""

    id: UUID
    state: str
    old_digest: str
    new_digest: str
    changes: Sequence[Change]
    read_before: Sequence[str]


@commits("correction_committed")
def correct(
    actor: Actor,
    run_id: UUID,
    *,
    values: Mapping[str, Any],
    because: str,
    seen: str | None = None,
) -> Corrected:
    """Replace these fields of a run's input; its keys and what is confirmed under them stay.

    A call whose request then differs from what was sent before is a conflict that a person
    decides (I5). Raises NotAllowed, NoSuchRun, RunChanged, NotNow, InvalidInput,
    UnknownWorkflow, NothingToCorrect.
    """
    with transaction.atomic():
        run = holding.held_for(actor, run_id, RunVerb.CORRECT, seen=seen)
        return correct_held(run, values=values, by=actor.name, because=because, now=db_now())


def correct_held(
    run: Run, *, values: Mapping[str, Any], by: str, because: str, now: datetime
) -> Corrected:
    """The same on a locked run, inside the caller's transaction."""
    old = canonical.loads(run.input)
    workflow = registry.get(run.workflow, run.version)
    new = inputs.validated(workflow, {**old, **values})
    changes = changes_between(old, new)
    if not changes:
        raise NothingToCorrect(f"Run {run.reference} has exactly this input already.")
    text, before = canonical.dumps(new), run.input_digest
    corrected = Corrected(
        id=run.pk,
        state=run.state,
        old_digest=before,
        new_digest=canonical.digest(text),
        changes=changes,
        read_before=read_before(
            plan_by_hash(run.plan_id),
            fields=[change.field for change in changes],
            ordinal=run.step_ordinal,
        ),
    )
    transitions.note(
        run,
        events=[_event(run, corrected, because=because)],
        now=now,
        actor=by,
        input=text,
        input_digest=corrected.new_digest,
    )
    run.input, run.input_digest = text, corrected.new_digest
    return corrected


def _event(run: Run, corrected: Corrected, *, because: str) -> Draft:
    body = {
        "because": because,
        "old_digest": corrected.old_digest,
        "new_digest": corrected.new_digest,
        "fields": [change.told() for change in corrected.changes],
        "read_before": list(corrected.read_before),
    }
    return Draft(kind=KIND, step=run.step, body=canonical.dumps(body))
