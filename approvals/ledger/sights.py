"""Somebody has had the whole of what a page shows in part; nobody agrees to it before."""

from django.db import transaction

from approvals.models import Decision, Sight
from approvals.queries.sights import folded_of, has_whole
from approvals.queries.visible import visible_decision
from approvals.rules.asked import Asked, Option
from approvals.rules.sight import WholeNotSeen, refusal
from runs.ledger.commits import commits
from runs.queries.clock import db_now
from runs.rules.policy import Actor, Verb, require

# Where only a part is shown; a command prints all there is.
IN_PARTS = ("page",)


@commits("sight_committed")
def note(actor: Actor, decision_id: int, *, how: str) -> Decision:
    """Raises NoSuchDecision, NotAllowed; said twice, it is kept once."""
    require(actor, Verb.VIEW_PAYLOADS)
    with transaction.atomic():
        decision = visible_decision(actor, decision_id)
        Sight.objects.get_or_create(
            decision=decision,
            by=actor.name,
            how=how,
            digest=decision.ask_digest,
            defaults={"at": db_now()},
        )
    return decision


def require_whole(
    actor: Actor, decision: Decision, asked: Asked, chosen: Option, *, door: str
) -> None:
    """Raises WholeNotSeen; what ends the run sends nothing, and is taken all the same."""
    if chosen.ends_the_run or door not in IN_PARTS:
        return
    folded = folded_of(decision, asked)
    if folded and (refused := refusal(folded, has_whole=has_whole(actor, decision))):
        raise WholeNotSeen(refused)
