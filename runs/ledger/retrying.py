"""A person has a run that waits for its next attempt go on now instead of later."""

from uuid import UUID

from django.db import transaction

from runs.ledger import holding, transitions
from runs.ledger.commits import commits
from runs.models import Wait
from runs.queries.clock import db_now
from runs.rules import canonical
from runs.rules.chain import Draft
from runs.rules.policy import Actor
from runs.rules.states import WaitKind, WaitState
from runs.rules.verbs import NotNow, RunVerb


@commits("retry_hastened")
def retry_now(actor: Actor, run_id: UUID, *, because: str = "", seen: str | None = None) -> str:
    """The wait for the next attempt is due at once; the clock closes it as it closes any other.

    Returns the step. Raises NotAllowed, NoSuchRun, RunChanged, NotNow.
    """
    with transaction.atomic():
        run, now = holding.held_for(actor, run_id, RunVerb.RETRY, seen=seen), db_now()
        wait = Wait.objects.get(run=run, state=WaitState.OPEN.value)
        moved = Wait.objects.filter(
            pk=wait.pk, state=WaitState.OPEN.value, kind=WaitKind.RETRY.value, due_at__gt=now
        ).update(due_at=now, fence=run.fence)
        if not moved:
            raise NotNow(f"Run {run.reference} is tried again already: its retry is due.")
        was_due = wait.due_at.isoformat() if wait.due_at else None
        body = {"because": because, "wait": wait.name, "was_due": was_due}
        event = Draft(kind="wait.hastened", step=run.step, body=canonical.dumps(body))
        transitions.note(run, events=[event], now=now, actor=actor.name)
    return run.step
