"""An answer that takes effect later: kept until its time, then the run moves as it says."""

from datetime import datetime
from typing import Any

from django.db.models import F

from approvals.ledger.holding import DecisionClosed
from approvals.models import Decision, Vote
from approvals.rules.asked import Asked, Option, asked_of, state_after
from approvals.rules.timing import timing_of
from runs.definition.gates import DueAnswer
from runs.ledger import deferring
from runs.queries.clock import db_now
from runs.rules import canonical
from runs.rules.states import DecisionState


def begins_at(decision: Decision, chosen: Option, *, now: datetime) -> datetime | None:
    """When an answer given now takes effect, if that is later. What ends the run never waits."""
    not_before = timing_of(decision.ask).not_before
    return None if not_before is None or chosen.ends_the_run else now + not_before


def defer(decision: Decision, vote: Vote, *, until: datetime) -> None:
    """Keep the answer until its time; the caller owns the transaction and holds the run."""
    moved = Decision.objects.filter(
        pk=decision.pk, state=DecisionState.OPEN.value, takes_effect_at=None
    ).update(takes_effect_at=until, deferred_option=vote.option, seq=F("seq") + 1)
    if not moved:
        raise DecisionClosed(Decision.objects.get(pk=decision.pk))
    facts = {"decision": decision.pk, "option": vote.option, "digest": vote.digest}
    deferring.defer(decision.wait_id, until=until, by=vote.by, facts=facts)


def take_effect(wait_id: int) -> DueAnswer | None:
    """The clock says that it is time; the caller owns the transaction and holds the run."""
    decision = Decision.objects.select_related("wait").get(wait_id=wait_id)
    if decision.state != DecisionState.OPEN.value or decision.takes_effect_at is None:
        return None
    vote = _votes(decision).order_by("-pk").first()
    if vote is None:
        return None
    asked = asked_of(decision.ask)
    chosen = asked.option(decision.deferred_option)
    close(decision, asked, chosen, vote, at=db_now())
    return DueAnswer(
        answer=answer_of(vote),
        by=vote.by,
        then=chosen.then,
        because=f"{vote.by} answered “{chosen.label}” to decision {decision.pk}, and it was time",
        facts={
            "decision": decision.pk,
            "option": vote.option,
            "digest": vote.digest,
            "answered_at": vote.at.isoformat(),
        },
    )


def _votes(decision: Decision) -> Any:
    return Vote.objects.filter(decision=decision, void_at=None, option=decision.deferred_option)


def close(decision: Decision, asked: Asked, chosen: Option, vote: Vote, *, at: datetime) -> None:
    """Close the decision with the answer it got; DecisionClosed when somebody was first."""
    state = state_after(asked, chosen)
    moved = Decision.objects.filter(pk=decision.pk, state=DecisionState.OPEN.value).update(
        state=state.value,
        option=chosen.key,
        approved_digest=vote.digest if state is DecisionState.APPROVED else "",
        closed_at=at,
        closed_by=vote.by,
        takes_effect_at=None,
        deferred_option="",
        seq=F("seq") + 1,
    )
    if not moved:
        raise DecisionClosed(Decision.objects.get(pk=decision.pk))


def answer_of(vote: Vote) -> dict[str, Any]:
    """What the run is told of it."""
    return {
        "option": vote.option,
        "fields": canonical.loads(vote.fields),
        "comment": vote.comment,
        "digest": vote.digest,
        "struck": canonical.loads(vote.struck),
    }
