"""Somebody reads a decision, and others see it, so that no two people read the same; it binds nobody."""

from datetime import datetime, timedelta

from django.db import IntegrityError, transaction
from django.db.models import F, QuerySet

from approvals.ledger.holding import held
from approvals.models import Claim, Decision
from approvals.queries.cases import case_of
from approvals.queries.visible import visible_decision
from approvals.rules import door
from runs.ledger.commits import commits
from runs.queries.clock import db_now
from runs.rules.policy import Actor

CLAIM_FOR = timedelta(minutes=10)


class ClaimedByOther(Exception):
    """Somebody else reads it; the message says who, and until when."""

    def __init__(self, claim: Claim) -> None:
        super().__init__(f"{claim.by} reads it until {claim.until:%H:%M:%S} UTC.")
        self.claim = claim


class NotClaimed(Exception):
    """There is no claim of this actor to release: it was over, or never made."""


@commits("claim_committed")
def claim(actor: Actor, decision_id: int) -> Claim:
    """Say that one reads this decision, for ten minutes from now; said again, from then.

    Raises NoSuchDecision, DecisionClosed, DecisionExpired, NotYours, ClaimedByOther.
    """
    with transaction.atomic():
        now = db_now()
        decision = _answerable(actor, decision_id, now=now)
        _end_what_is_over(decision, now=now)
        mine = _live(decision).filter(by=actor.name)
        if mine.update(until=now + CLAIM_FOR):
            return mine.get()
        return _begin(actor, decision, now=now)


def _answerable(actor: Actor, decision_id: int, *, now: datetime) -> Decision:
    # Held, so that no answer is given meanwhile: it binds who has read the decision before it.
    decision = held(actor, decision_id, now=now)
    found = door.standing(actor, case_of(actor, decision, now=now))
    if isinstance(found, door.Refusal):
        raise door.NotYours(found)
    return decision


def _end_what_is_over(decision: Decision, *, now: datetime) -> None:
    _live(decision).filter(until__lte=now).update(ended_at=F("until"))


def _begin(actor: Actor, decision: Decision, *, now: datetime) -> Claim:
    """The database lets one claim stand; whoever comes second is told whose it is."""
    try:
        with transaction.atomic():
            return Claim.objects.create(
                decision=decision,
                user_id=actor.user_id,
                by=actor.name,
                at=now,
                until=now + CLAIM_FOR,
            )
    except IntegrityError:
        raise ClaimedByOther(_live(decision).get()) from None


def _live(decision: Decision) -> QuerySet[Claim]:
    return Claim.objects.filter(decision=decision, ended_at=None)


@commits("claim_committed")
def release(actor: Actor, decision_id: int) -> None:
    """Take one's claim back before it ends by itself. Raises NoSuchDecision, NotClaimed."""
    with transaction.atomic():
        now = db_now()
        decision = visible_decision(actor, decision_id)
        mine = _live(decision).filter(by=actor.name, until__gt=now)
        if not mine.update(ended_at=now):
            raise NotClaimed("You do not read it at present, as far as anybody was told.")


def end(decision: Decision, *, now: datetime) -> None:
    """Whoever reads it is not expected to any more; the caller owns the transaction."""
    _end_what_is_over(decision, now=now)
    _live(decision).update(ended_at=now)
