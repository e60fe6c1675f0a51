"""A person answers a decision, once, bound to what they were shown; the run goes on or ends."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from django.db import transaction

from approvals.ledger import grounds, outcomes, records, sights, striking, voting
from approvals.ledger.holding import DecisionChanged, held
from approvals.ledger.outcomes import Decided
from approvals.ledger.voting import Door, Said
from approvals.models import Decision
from approvals.queries import lists
from approvals.queries.cases import case_of, cast_of, counting, tally_with
from approvals.queries.visible import visible_decision
from approvals.rules import door
from approvals.rules.asked import APPROVE, Option
from approvals.rules.case import Case, Standing
from approvals.rules.demands import (
    SHORTEST_DIGEST,
    TYPED,
    CommentMissing,
    ConfirmationMissing,
    Demands,
    confirms,
    demands_of,
)
from approvals.rules.schema import validated
from runs.ledger.commits import commits
from runs.queries.clock import db_now
from runs.rules import canonical
from runs.rules.policy import Actor, SignInTooOld
from runs.rules.states import DecisionState

__all__ = ["CommentMissing", "ConfirmationMissing", "Decided", "Door", "NothingLeft", "decide"]
LONGEST_COMMENT = 10_000


class NothingLeft(ValueError):
    """Every call has been struck off, so there is nothing to approve; reject instead."""


@commits("decision_applied")
def decide(
    actor: Actor,
    decision_id: int,
    *,
    option: str,
    fields: Mapping[str, Any],
    comment: str,
    shown_digest: str,
    struck: Collection[int] | None = None,
    confirm: str = "",
    break_glass: bool = False,
    through: Door,
) -> Decided:
    """Record an answer; where no other is needed, it is the decision's, and its run moves.

    `struck` is the whole list of calls to strike off; None takes what is struck off already.
    `confirm` is what was typed to confirm. Raises NoSuchDecision, NotYours, NoSuchOption,
    FieldsRefused, CommentMissing, ConfirmationMissing, SignInTooOld, NothingLeft, WholeNotSeen,
    DecisionChanged, GroundMoved, DecisionExpired, DecisionClosed.
    """
    bytes_altered = _altered(actor, decision_id)
    with grounds.asked_anew_if_moved(actor, decision_id), transaction.atomic():
        now = db_now()
        decision = held(actor, decision_id, now=now)
        case = case_of(actor, decision, now=now)
        chosen = case.asked.option(option)
        breaks = break_glass and door.is_shut(actor, case, chosen)
        if refusal := door.refusal(actor, case, chosen, break_glass=breaks):
            raise door.NotYours(refusal)
        grounds.require_unmoved(decision)
        sights.require_whole(actor, decision, case.asked, chosen, door=through.name)
        demands = demands_of(actor, case, chosen, now=now, break_glass=breaks)
        said = Said(
            chosen=chosen,
            fields=validated(chosen.fields, fields),
            comment=_comment(demands, chosen, comment),
            struck=_struck(decision, struck, by=actor.name, now=now),
            through=through,
            break_glass=breaks,
        )
        # Bytes that were altered forbid a yes; a no sends nothing, so it is taken.
        altered = () if chosen.ends_the_run else bytes_altered
        _require_unchanged(decision, shown=shown_digest, struck=said.struck, altered=altered)
        _require_something_left(decision, chosen)
        _require_confirmed(demands, decision, confirm)
        return _recorded(actor, decision, case, said, now=now)


def _recorded(
    actor: Actor, decision: Decision, case: Case, said: Said, *, now: datetime
) -> Decided:
    standing = door.standing(actor, case)
    assert isinstance(standing, Standing)  # noqa: S101 - the door has let them in
    if said.break_glass:
        because, place = "Its voter broke the glass instead.", standing.voice_id
        voting.annul(decision, because=because, by=actor.name, voice_id=place, now=now)
    vote = voting.cast(actor, decision, case, said, by_right_of=standing, now=now)
    records.keep(actor, decision, vote)
    casts = tuple(map(cast_of, counting(decision)))
    come_to = tally_with(case.asked, casts, like=cast_of(vote))
    if said.break_glass:
        outcomes.tell_of_broken_glass(decision, case, vote)
    if come_to.complete or said.chosen.ends_the_run or said.break_glass:
        return outcomes.close(decision, case, said.chosen, vote, come_to)
    return outcomes.keep_open(decision, said.chosen, vote, come_to)


def _altered(actor: Actor, decision_id: int) -> tuple[int, ...]:
    """The slow look at every byte, before anything is locked; the digests are compared after."""
    decision = visible_decision(actor, decision_id)
    if decision.kind != "plan" or decision.state != DecisionState.OPEN.value:
        return ()
    return tuple(lists.altered(decision))


def _comment(demands: Demands, chosen: Option, comment: str) -> str:
    if demands.sign_in:
        raise SignInTooOld(
            "This cannot be undone, and you signed in more than 15 minutes ago: show once more "
            "that it is you."
        )
    said = comment.replace("\r\n", "\n").strip()
    if demands.comment and not said:
        raise CommentMissing(f"“{chosen.label}” needs a comment: say why it is right.")
    return said[:LONGEST_COMMENT]


def _struck(
    decision: Decision, wanted: Collection[int] | None, *, by: str, now: datetime
) -> list[int]:
    if decision.kind != "plan":
        return []
    before = lists.struck_of(decision)
    if wanted is None:
        return sorted(before)
    if back := before - set(wanted):
        striking.apply(decision, ordinals=back, struck=False, by=by, now=now)
    if new := set(wanted) - before:
        striking.apply(decision, ordinals=new, struck=True, by=by, now=now)
    return sorted(set(wanted))


def _require_unchanged(
    decision: Decision, *, shown: str, struck: Collection[int], altered: tuple[int, ...]
) -> None:
    current = decision.digest
    if decision.kind == "plan":
        current = lists.remaining(decision, struck).digest
    as_asked = decision.wait.subject == decision.ask
    kept = as_asked and canonical.digest(decision.ask) == decision.ask_digest
    if shown != current or current != decision.digest or altered or not kept:
        raise DecisionChanged(decision, shown=shown, now=current, altered=altered)


def _require_something_left(decision: Decision, chosen: Option) -> None:
    if decision.kind == "plan" and chosen.key == APPROVE and decision.count == 0:
        raise NothingLeft("Every call is struck off: there is nothing to approve. Reject instead.")


def _require_confirmed(demands: Demands, decision: Decision, typed: str) -> None:
    run = decision.run
    names = (run.reference, str(run.pk))
    if demands.confirm and not confirms(typed, names=names, digest=decision.digest):
        raise ConfirmationMissing(
            f"This cannot be undone. Confirm with the last {TYPED} characters of the run's reference "
            f"or id, or at least {SHORTEST_DIGEST} characters of the digest that was shown."
        )
