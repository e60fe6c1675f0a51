"""A person answers a decision, once, bound to what they were shown; the run goes on or ends."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import F

from approvals.ledger import records, striking
from approvals.ledger.holding import DecisionChanged, DecisionClosed, held
from approvals.models import Decision, Vote
from approvals.queries import lists
from approvals.queries.people import is_alone
from approvals.queries.visible import case_of, groups_of, visible_decision
from approvals.rules import door
from approvals.rules.asked import APPROVE, Asked, Option, asked_of, state_after
from approvals.rules.schema import validated
from runs.ledger import waking
from runs.ledger.commits import commits
from runs.queries.clock import db_now
from runs.rules import canonical
from runs.rules.policy import Actor
from runs.rules.states import DecisionState

LONGEST_COMMENT = 10_000


class CommentMissing(ValueError):
    """This option takes a comment: why it is right, for whoever reads the record later."""


class NothingLeft(ValueError):
    """Every call has been struck off, so there is nothing to approve; reject instead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """Where an answer came in: by the page or by a command, and from which address."""

    name: str
    address: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """The one answer that a decision got."""

    decision_id: int
    state: DecisionState
    option: str
    then: str
    digest: str


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
    through: Door,
) -> Decided:
    """Record the one answer of a decision and move its run.

    `struck` is the whole list of calls to strike off; None takes what is struck off already.
    Raises NoSuchDecision, NotYours, NoSuchOption, FieldsRefused, CommentMissing, NothingLeft,
    DecisionChanged, DecisionExpired, DecisionClosed.
    """
    bytes_altered = _altered(actor, decision_id)
    with transaction.atomic():
        now = db_now()
        decision = held(actor, decision_id, now=now)
        asked = asked_of(decision.ask)
        chosen = asked.option(option)
        if refusal := door.refusal(actor, case_of(decision), chosen):
            raise door.NotYours(refusal)
        answers = validated(chosen.fields, fields)
        said = _comment(asked, chosen, comment)
        off = _struck(decision, struck, by=actor.name, now=now)
        # Bytes that were altered forbid a yes; a no sends nothing, so it is taken.
        altered = () if chosen.ends_the_run else bytes_altered
        _require_unchanged(decision, shown=shown_digest, struck=off, altered=altered)
        _require_something_left(decision, chosen)
        vote = _vote(actor, decision, chosen, answers, said, off, through, now=now)
        records.keep(actor, decision, vote)
        return _close(decision, asked, chosen, vote)


def _altered(actor: Actor, decision_id: int) -> tuple[int, ...]:
    """The slow look at every byte, before anything is locked; the digests are compared after."""
    decision = visible_decision(actor, decision_id)
    if decision.kind != "plan" or decision.state != DecisionState.OPEN.value:
        return ()
    return tuple(lists.altered(decision))


def _comment(asked: Asked, chosen: Option, comment: str) -> str:
    said = comment.replace("\r\n", "\n").strip()
    if asked.grave(chosen) and not said:
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
    decision: Decision, *, shown: str, struck: list[int], altered: tuple[int, ...]
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


def _vote(
    actor: Actor,
    decision: Decision,
    chosen: Option,
    answers: Mapping[str, Any],
    comment: str,
    struck: list[int],
    through: Door,
    *,
    now: datetime,
) -> Vote:
    alone = is_alone(
        tenant_id=decision.tenant_id, groups=groups_of(decision), user_id=actor.user_id
    )
    return Vote.objects.create(
        decision=decision,
        user_id=actor.user_id,
        by=actor.name,
        option=chosen.key,
        fields=canonical.dumps(dict(answers)),
        comment=comment,
        digest=decision.digest,
        struck=canonical.dumps(struck),
        alone=alone,
        door=through.name,
        address=through.address,
        at=now,
    )


def _close(decision: Decision, asked: Asked, chosen: Option, vote: Vote) -> Decided:
    state = state_after(asked, chosen)
    moved = Decision.objects.filter(pk=decision.pk, state=DecisionState.OPEN.value).update(
        state=state.value,
        option=chosen.key,
        approved_digest=vote.digest if state is DecisionState.APPROVED else "",
        closed_at=vote.at,
        closed_by=vote.by,
        seq=F("seq") + 1,
    )
    if not moved:
        raise DecisionClosed(Decision.objects.get(pk=decision.pk))
    waking.answer(
        decision.wait_id,
        answer={
            "option": chosen.key,
            "fields": canonical.loads(vote.fields),
            "comment": vote.comment,
            "digest": vote.digest,
            "struck": canonical.loads(vote.struck),
        },
        by=vote.by,
        then=chosen.then,
        because=f"{vote.by} answered “{chosen.label}” to decision {decision.pk}",
        facts=_facts(decision, vote),
    )
    return Decided(
        decision_id=decision.pk,
        state=state,
        option=chosen.key,
        then=chosen.then,
        digest=vote.digest,
    )


def _facts(decision: Decision, vote: Vote) -> dict[str, Any]:
    """What the audit keeps of an answer: digests of what was said, not the words."""
    return {
        "decision": decision.pk,
        "option": vote.option,
        "digest": vote.digest,
        "struck": len(canonical.loads(vote.struck)),
        "comment_digest": canonical.digest(vote.comment) if vote.comment else "",
        "alone": vote.alone,
        "door": vote.door,
        "record": vote.record.digest,
    }
