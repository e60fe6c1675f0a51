"""Ask the receiver of a call once more, for whoever decides about it."""

from approvals.ledger import askings
from approvals.models import Decision
from approvals.queries.cases import case_of
from approvals.queries.visible import visible_decision
from approvals.rules import door
from approvals.rules.asked import asked_of
from runs.engine.asking import NobodyToAsk, ask_receiver
from runs.queries.clock import db_now
from runs.rules.policy import Actor, Verb, require
from runs.rules.states import DecisionState


def ask(actor: Actor, decision_id: int) -> Decision:
    """Ask the receiver now; the decision that stands afterwards, which may be a new one.

    Raises NoSuchDecision, NotAllowed, NotYours, NobodyToAsk, DecisionClosed, DecisionExpired.
    """
    decision = visible_decision(actor, decision_id)
    _require_asker(actor, decision)
    call = asked_of(decision.ask).call
    if call is None or decision.state != DecisionState.OPEN.value:
        raise NobodyToAsk("This decision is about no call whose receiver could be asked.")
    # Outside of any transaction: a receiver may take its time, and nothing is held meanwhile.
    said = ask_receiver(decision.run_id, str(call["key"]))
    return askings.record(actor, decision_id, said)


def _require_asker(actor: Actor, decision: Decision) -> None:
    require(actor, Verb.VIEW_PAYLOADS)
    if refusal := door.refusal(actor, case_of(actor, decision, now=db_now())):
        raise door.NotYours(refusal)
