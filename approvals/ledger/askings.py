"""What a receiver said when it was asked again; a new outcome supersedes the decision."""

from django.db import transaction
from django.db.models import F

from approvals.ledger import grounds
from approvals.ledger.holding import held
from approvals.models import Asking, Decision
from approvals.queries.askings import outcome_known
from runs.engine.asking import Said
from runs.ledger.commits import commits
from runs.queries.clock import db_now
from runs.rules import canonical
from runs.rules.policy import Actor


@commits("asking_committed")
def record(actor: Actor, decision_id: int, said: Said) -> Decision:
    """Keep what came back, with the time; what changes the evidence supersedes the decision."""
    with transaction.atomic():
        now = db_now()
        decision = held(actor, decision_id, now=now)
        known = outcome_known(decision)
        Asking.objects.create(
            decision=decision,
            by=actor.name,
            outcome=said.outcome,
            said=said.said,
            receiver_id=said.receiver_id,
            settled=said.settled,
            at=now,
        )
        Decision.objects.filter(pk=decision.pk).update(seq=F("seq") + 1)
        if said.outcome == "unknown" or (said.outcome, said.settled) == known:
            return decision
        more = {
            "probe": said.outcome,
            "asked_at": now.isoformat(),
            "probe_settled": said.settled,
            **({"receiver_says": canonical.loads(said.said)} if said.said else {}),
            **({"receiver_id": said.receiver_id} if said.receiver_id else {}),
        }
        because = f"{actor.name} asked the receiver again, and the answer is new."
        return grounds.ask_anew(decision, more, because=because, by=actor.name)
