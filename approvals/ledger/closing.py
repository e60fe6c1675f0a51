"""A decision ends without an answer: the clock was first, its run was closed or is redone."""

from datetime import datetime
from uuid import UUID

from django.db.models import F

from approvals.models import Decision
from runs.queries.clock import db_now
from runs.rules.states import DecisionState

CLOCK = "the clock"


def expire(wait_id: int) -> None:
    """The clock has closed the wait; the caller owns the transaction and holds the run."""
    Decision.objects.filter(wait_id=wait_id, state=DecisionState.OPEN.value).update(
        state=DecisionState.EXPIRED.value,
        closed_at=db_now(),
        closed_by=CLOCK,
        because="Nobody answered in time.",
        rule=None,
        seq=F("seq") + 1,
    )


def withdraw(run_id: UUID, because: str) -> None:
    """The run has been closed; the caller owns the transaction and holds the run."""
    _end(run_id, because, to=DecisionState.WITHDRAWN)


def supersede(run_id: UUID, because: str) -> None:
    """A replay asks anew; the caller owns the transaction and holds the run (R3)."""
    _end(run_id, because, to=DecisionState.SUPERSEDED)


def _end(run_id: UUID, because: str, *, to: DecisionState) -> None:
    open_ones = Decision.objects.filter(run_id=run_id, state=DecisionState.OPEN.value)
    # Whoever closed the run has closed its wait just before, in this transaction.
    for decision in open_ones.select_related("wait"):
        open_ones.filter(pk=decision.pk).update(
            state=to.value,
            closed_at=db_now(),
            closed_by=decision.wait.closed_by,
            because=because,
            takes_effect_at=None,
            deferred_option="",
            rule=None,
            seq=F("seq") + 1,
        )


def postpone(wait_id: int, until: datetime) -> None:
    """Its run was paused, and the clock stood; the caller owns the transaction and holds the run."""
    decision = Decision.objects.get(wait_id=wait_id)
    if decision.takes_effect_at is None:
        later: dict[str, object] = {"expires_at": until, "urgent_at": until}
    else:
        later = {"takes_effect_at": until}
        if decision.expires_at is not None:
            later["expires_at"] = decision.expires_at + (until - decision.takes_effect_at)
    Decision.objects.filter(pk=decision.pk, state=DecisionState.OPEN.value).update(
        **later, seq=F("seq") + 1
    )
