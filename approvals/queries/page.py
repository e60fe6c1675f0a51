"""All that the page of one decision shows, in the order in which it is read."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from approvals.models import Decision, Vote
from approvals.queries import inbox
from approvals.queries.cases import case_of, come_to_so_far
from approvals.queries.proof import Proof, proof_of
from approvals.rules import demands, door
from approvals.rules.asked import Asked, Option
from approvals.rules.case import Case, named, who_may
from approvals.rules.looks import look_kind, word_of
from approvals.rules.quorum import Tally
from approvals.rules.schema import Field, fields_of
from approvals.rules.story import what_happened
from runs.queries.clock import db_now
from runs.queries.desk import EffectSoFar, effects_so_far, finished_steps
from runs.rules import canonical
from runs.rules.payloads import Payload
from runs.rules.policy import Actor, Verb, is_fresh, may
from runs.rules.states import DecisionState


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionShown:
    """An option, and why this reader may not choose it, if they may not."""

    option: Option
    grave: bool
    refusal: str
    support: str = ""
    glass: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteShown:
    vote: Vote
    label: str
    fields: dict[str, Any]
    struck: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionPage:
    """Everything but the calls of a list, which have pages of their own."""

    decision: Decision
    asked: Asked
    kind_look: str
    kind_word: str
    visible: bool
    refusal: str
    who_may: str
    alone: bool
    requester: str
    requesters: Sequence[str]
    on_behalf_of: str
    behalf_until: datetime | None
    fresh: bool
    tally: Tally
    named: str
    happened: Sequence[str]
    finished: Sequence[str]
    outcome: str
    request: Payload | None
    evidence: Payload | None
    facts: dict[str, Any]
    proof: Proof
    effects: Sequence[EffectSoFar]
    options: Sequence[OptionShown]
    struck: int
    votes: Sequence[VoteShown]
    before: Decision | None
    after: Decision | None

    @property
    def is_open(self) -> bool:
        return self.decision.state == DecisionState.OPEN.value

    @property
    def may_answer(self) -> bool:
        return self.is_open and not self.refusal and not self.answer_waits

    @property
    def answer_waits(self) -> bool:
        """Whether it has been answered, and the answer takes effect later."""
        return self.decision.takes_effect_at is not None

    @property
    def shows_form(self) -> bool:
        return self.may_answer or self.may_break_glass

    @property
    def any_grave(self) -> bool:
        return any(one.grave for one in self.options)

    @property
    def may_break_glass(self) -> bool:
        """Whether an administrator could go past the rule that asks for somebody else."""
        open_for_it = self.is_open and not self.answer_waits
        return open_for_it and any(one.glass for one in self.options)

    @property
    def asks_sign_in(self) -> bool:
        """Whether who answers has to show once more who they are."""
        return not self.fresh and (self.any_grave or self.may_break_glass)

    @property
    def shared_fields(self) -> Sequence[Field]:
        """Fields that every option asks for alike stand once, below all options."""
        return shared_fields(self.asked)


def page_of(
    actor: Actor,
    decision: Decision,
    *,
    now: datetime | None = None,
    but: Vote | None = None,
    whole: bool = False,
) -> DecisionPage:
    """`but` is a vote that is being given: the page is as it was before it."""
    now = now or db_now()
    case = case_of(actor, decision, now=now, but=but)
    asked = case.asked
    visible = may(actor, Verb.VIEW_PAYLOADS)
    beside = inbox.beside(actor, decision)
    proof = proof_of(actor, decision, asked, visible=visible, whole=whole)
    is_open = decision.state == DecisionState.OPEN.value
    return DecisionPage(
        decision=decision,
        asked=asked,
        kind_look=look_kind(decision.kind),
        kind_word=word_of(decision.kind),
        visible=visible,
        **_who(actor, case, is_open=is_open, now=now),
        happened=what_happened(asked, step=decision.step),
        finished=finished_steps(decision.run_id, before=decision.opened_at),
        outcome=inbox.outcome_of(decision),
        request=proof.request,
        evidence=proof.evidence,
        facts=proof.facts,
        proof=proof,
        effects=effects_so_far(decision.run_id),
        options=[_option(actor, case, option, proof) for option in asked.options],
        struck=asked.plan.count - decision.count if asked.plan else 0,
        votes=[_vote(asked, vote, visible=visible) for vote in decision.votes.order_by("pk")],
        before=beside.before,
        after=beside.after,
    )


def _who(actor: Actor, case: Case, *, is_open: bool, now: datetime) -> dict[str, Any]:
    """Who may answer, by whose right this reader would, and what the votes come to."""
    refused, stands = door.refusal(actor, case), door.standing_or_none(actor, case)
    return {
        "refusal": refused.sentence if refused else "",
        "who_may": who_may(case.groups),
        "alone": is_open and not refused and door.is_alone(actor, case),
        "requester": case.requester,
        "requesters": [f"{each.name} {each.did}" for each in case.requesters[1:]],
        "on_behalf_of": stands.on_behalf_of if stands else "",
        "behalf_until": stands.until if stands else None,
        "fresh": is_fresh(actor, now=now),
        "tally": come_to_so_far(case),
        "named": named(case),
    }


def _option(actor: Actor, case: Case, option: Option, proof: Proof) -> OptionShown:
    refused, unseen = door.refusal(actor, case, option), proof.unseen(option)
    shut = may(actor, Verb.ADMINISTER) and door.is_shut(actor, case, option)
    return OptionShown(
        option=option,
        grave=demands.is_grave(actor, case, option),
        # Whoever breaks the glass agrees to the whole all the same, so that is what is missing first.
        refusal=refused.sentence if refused and not (shut and unseen) else unseen,
        support=proof.speaks_for(option),
        glass=shut and not unseen,
    )


def _vote(asked: Asked, vote: Vote, *, visible: bool) -> VoteShown:
    return VoteShown(
        vote=vote,
        label=asked.option(vote.option).label,
        fields=canonical.loads(vote.fields) if visible else {},
        struck=len(canonical.loads(vote.struck)),
    )


def shared_fields(asked: Asked) -> tuple[Field, ...]:
    first = asked.options[0].fields
    alike = len(asked.options) > 1 and all(option.fields == first for option in asked.options)
    return fields_of(first) if alike else ()
