"""Keep what a decision rests on; when that has changed, ask anew instead of taking an answer."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from django.db import transaction

from approvals.ledger import striking
from approvals.ledger.holding import DecisionChanged, held
from approvals.models import Decision, Ground
from approvals.queries.grounds import moved_under
from approvals.queries.visible import visible_decision
from approvals.rules.ground import Moved
from runs.ledger import reasking
from runs.ledger.commits import commits
from runs.queries.clock import db_now
from runs.queries.ground import call_by_key, ground_of
from runs.rules import canonical
from runs.rules.policy import Actor


class GroundMoved(Exception):
    """What the decision rested on is no longer so: nothing was recorded, and it is asked anew.

    `successor` is the decision that takes its place.
    """

    def __init__(self, decision: Decision, moved: Sequence[Moved], successor: Decision) -> None:
        named = "; ".join(f"{each.what}: {each.before}, now {each.now}" for each in moved)
        super().__init__(
            f"What decision {decision.pk} rested on has changed ({named}). Nothing was recorded; "
            f"decision {successor.pk} asks anew."
        )
        self.decision, self.moved, self.successor = decision, moved, successor


def keep(decision: Decision) -> None:
    """Inside the transaction that opens it."""
    facts = canonical.dumps(ground_of(decision.run_id))
    Ground.objects.create(decision=decision, facts=facts)


class _NotTheSame(Exception):
    """Ends the transaction of an answer, before another one opens a new decision."""


def require_unmoved(decision: Decision) -> None:
    """Inside `asked_anew_if_moved`, while the run is held."""
    if moved_under(decision):
        raise _NotTheSame


@contextmanager
def asked_anew_if_moved(actor: Actor, decision_id: int) -> Iterator[None]:
    """Raises GroundMoved, once a new decision has been opened on the ground as it is now."""
    try:
        yield
    except _NotTheSame:
        moved = reopen(actor, decision_id)
        if moved is None:
            raise DecisionChanged(
                visible_decision(actor, decision_id), shown="", now="as it was"
            ) from None
        raise moved from None


@commits("decision_reopened", when=bool)
def reopen(actor: Actor, decision_id: int) -> GroundMoved | None:
    """Supersede the decision and ask the same on the present ground; None when nothing has moved."""
    with transaction.atomic():
        decision = held(actor, decision_id, now=db_now())
        found = moved_under(decision)
        if not found:
            return None
        because = "What it rested on has changed, so it is asked anew."
        told = [{"what": each.what, "before": each.before, "now": each.now} for each in found]
        return GroundMoved(
            decision, found, ask_anew(decision, {"changed": told}, because=because, by=actor.name)
        )


def ask_anew(decision: Decision, more: dict[str, Any], *, because: str, by: str) -> Decision:
    """The same question with `more` evidence, its call as it stands now; the run is held."""
    ask = canonical.loads(decision.ask)
    evidence = ask["evidence"] if isinstance(ask["evidence"], dict) else {}
    if ask["evidence"] and not evidence:
        evidence = {"evidence": ask["evidence"]}
    ask["evidence"] = {**evidence, **more}
    if ask["call"] and (call := call_by_key(decision.run_id, str(ask["call"]["key"]))):
        ask["call"] |= {"state": call.state.value, "sends": call.sends}
    wait_id = reasking.ask_anew(decision.wait_id, ask, because=because, by=by)
    opened = Decision.objects.select_related("run", "wait").get(wait_id=wait_id)
    return _struck_as_before(opened, decision)


def _struck_as_before(opened: Decision, before: Decision) -> Decision:
    """Nobody agrees unawares to what somebody had struck off the list."""
    by_name: dict[str, list[int]] = {}
    for by, ordinal in before.strikes.filter(struck=True).values_list("by", "ordinal"):
        by_name.setdefault(by, []).append(ordinal)
    for by, ordinals in sorted(by_name.items()):
        striking.apply(opened, ordinals=ordinals, struck=True, by=by, now=opened.opened_at)
    return opened
