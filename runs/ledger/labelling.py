"""A label of a run is set, replaced or taken away by a person; nothing the run does depends on it."""

from uuid import UUID

from django.db import transaction

from runs.ledger import holding, transitions
from runs.ledger.commits import commits
from runs.queries.clock import db_now
from runs.rules import canonical
from runs.rules.chain import Draft
from runs.rules.labels import Label, LabelRefused, with_label
from runs.rules.policy import Actor
from runs.rules.verbs import RunVerb


class NothingToLabel(LabelRefused):
    """The run has exactly this label already."""


@commits("label_committed")
def label(
    actor: Actor, run_id: UUID, wish: Label, *, because: str = "", seen: str | None = None
) -> dict[str, str]:
    """Set this label of a run, or take it away where its value is empty; all labels afterwards.

    Raises NotAllowed, NoSuchRun, RunChanged, NotNow, LabelRefused.
    """
    with transaction.atomic():
        run = holding.held_for(actor, run_id, RunVerb.LABEL, seen=seen)
        before, labels = run.labels.get(wish.name, ""), with_label(run.labels, wish)
        if labels == run.labels:
            raise NothingToLabel(f"Run {run.reference} is labelled so already.")
        body = {"name": wish.name, "before": before, "after": wish.value, "because": because}
        event = Draft(kind="run.labelled", step=run.step, body=canonical.dumps(body))
        transitions.note(run, events=[event], now=db_now(), actor=actor.name, labels=labels)
    return labels
