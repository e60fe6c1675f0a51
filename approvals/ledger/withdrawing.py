"""Somebody takes their answer back before it has taken effect.

That is: while others have still to agree, or while the time that it was not to take effect before
has not come. From the commit in which the run moves on, nothing is taken back any more.
"""

from django.db import transaction
from django.db.models import F

from approvals.ledger import voting
from approvals.ledger.holding import DecisionClosed, held_as_answered
from approvals.models import Decision
from approvals.queries.cases import cast_of, counting, tally_with
from approvals.rules.asked import asked_of
from runs.ledger import deferring
from runs.ledger.commits import commits
from runs.queries.clock import db_now
from runs.rules.policy import Actor
from runs.rules.states import DecisionState


class NothingToWithdraw(Exception):
    """No answer of this actor counts at present, so there is none to take back."""


@commits("answer_withdrawn")
def withdraw(actor: Actor, decision_id: int, *, because: str = "") -> Decision:
    """Let one's answer count no more; what it would have begun does not begin.

    Raises NoSuchDecision, NothingToWithdraw; DecisionClosed when it has taken effect, which says so.
    """
    with transaction.atomic():
        now = db_now()
        decision = held_as_answered(actor, decision_id, now=now)
        said = because.strip()[:200]
        why = f"taken back: {said}" if said else "taken back"
        if not voting.annul(decision, because=why, now=now, by=actor.name):
            raise NothingToWithdraw("No answer of yours counts here at present.")
        _reopen(decision, by=actor.name)
        decision.refresh_from_db()
    return decision


def _reopen(decision: Decision, *, by: str) -> None:
    deferred = decision.takes_effect_at is not None and not _still_agreed(decision)
    none = {"takes_effect_at": None, "deferred_option": ""} if deferred else {}
    moved = Decision.objects.filter(
        pk=decision.pk, state=DecisionState.OPEN.value, seq=decision.seq
    ).update(**none, seq=F("seq") + 1)
    if not moved:
        raise DecisionClosed(Decision.objects.get(pk=decision.pk))
    facts = {"decision": decision.pk, "deferred": deferred}
    if deferred:
        deferring.undefer(
            decision.wait_id,
            due_at=decision.expires_at,
            on_due=decision.on_expiry,
            by=by,
            facts=facts,
        )
    else:
        deferring.note(decision.wait_id, "decision.answer_withdrawn", by=by, facts=facts)


def _still_agreed(decision: Decision) -> bool:
    """Whether the answer that waits holds without what was taken back, which had said another."""
    asked, votes = asked_of(decision.ask), counting(decision)
    same = [vote for vote in votes if vote.option == decision.deferred_option]
    if not same:
        return False
    like = cast_of(same[-1])
    return same[-1].break_glass or tally_with(asked, map(cast_of, votes), like=like).complete
