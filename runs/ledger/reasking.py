"""A run that waits for a person is asked about anew, because what the question rested on changed."""

from typing import Any

from runs.definition import gates
from runs.ledger import openings, transitions
from runs.ledger.waits import close, lock_open
from runs.models import Wait
from runs.queries.clock import db_now
from runs.rules import canonical
from runs.rules.asks import Ask
from runs.rules.chain import Draft
from runs.rules.states import WaitState

NOT_TAKEN_OVER = ("id", "state", "superseded", "subject", "answer", "answer_digest", "closed_by",
                  "closed_at", "opened_at")  # fmt: skip


def ask_anew(wait_id: int, asked: Ask, *, because: str, by: str) -> int:
    """Close an open wait as superseded and open another in its place, under the same name.

    It keeps its time; the run stays parked. The caller owns the transaction. Raises WaitClosed.
    """
    run, old = lock_open(wait_id)
    now = db_now()
    close(run, old, to=WaitState.WITHDRAWN, answer=None, by=by, now=now)
    Wait.objects.filter(pk=old.pk).update(superseded=True, fence=run.fence)
    gates.gate_for(old.kind).supersede(run.pk, because)
    kept: dict[str, Any] = {
        field.attname: getattr(old, field.attname)
        for field in Wait._meta.concrete_fields
        if field.attname not in NOT_TAKEN_OVER
    }
    opened = Wait.objects.create(**{**kept, "fence": run.fence}, subject=canonical.dumps(asked),
                                 opened_at=now)  # fmt: skip
    gates.gate_for(opened.kind).open(openings.opened_wait(run, opened))
    body = {"wait": old.name, "kind": old.kind, "because": because, "by": by}
    told = Draft(kind="wait.asked_anew", step=old.step, body=canonical.dumps(body))
    transitions.note(run, events=[told], now=now, actor=by)
    return opened.pk
