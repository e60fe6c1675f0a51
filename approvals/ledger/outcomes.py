"""What a vote comes to: the decision ends with it, or waits for others; the caller owns the transaction."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.db.models import F

from approvals.ledger import taking_effect, voting
from approvals.ledger.holding import DecisionClosed
from approvals.models import Decision, Vote
from approvals.queries.cases import cast_of
from approvals.rules.asked import Option, state_after
from approvals.rules.case import Case
from approvals.rules.quorum import Tally
from runs.ledger import transitions, waits, waking
from runs.ledger.telling import tell
from runs.rules import canonical
from runs.rules.chain import Draft
from runs.rules.states import DecisionState


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """What an answer came to: the decision's one answer, or a vote of those that it takes."""

    decision_id: int
    state: DecisionState
    option: str
    then: str
    digest: str
    tally: Tally
    takes_effect_at: datetime | None = None

    @property
    def is_final(self) -> bool:
        return self.state is not DecisionState.OPEN


def close(decision: Decision, case: Case, chosen: Option, vote: Vote, come_to: Tally) -> Decided:
    until = taking_effect.begins_at(decision, chosen, now=vote.at)
    if until is not None:
        facts = {**_facts(decision, vote), **_agreed(case, vote)}
        taking_effect.defer(decision, vote, until=until, facts=facts)
        waits = _decided(decision, DecisionState.OPEN, chosen, vote, come_to)
        return replace(waits, takes_effect_at=until)
    state = state_after(case.asked, chosen)
    moved = Decision.objects.filter(pk=decision.pk, state=DecisionState.OPEN.value).update(
        state=state.value,
        option=chosen.key,
        approved_digest=vote.digest if state is DecisionState.APPROVED else "",
        closed_at=vote.at,
        closed_by=vote.by,
        because=_because(case, vote),
        rule=None,
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
        facts={**_facts(decision, vote), **_agreed(case, vote)},
    )
    return _decided(decision, state, chosen, vote, come_to)


def keep_open(decision: Decision, chosen: Option, vote: Vote, come_to: Tally) -> Decided:
    """The vote counts; somebody else has to agree before anything happens."""
    moved = Decision.objects.filter(pk=decision.pk, state=DecisionState.OPEN.value).update(
        seq=F("seq") + 1
    )
    if not moved:
        raise DecisionClosed(Decision.objects.get(pk=decision.pk))
    facts = {**_facts(decision, vote), "votes": come_to.given, "more": come_to.more}
    _note(
        decision,
        Draft(kind="decision.voted", step=decision.step, body=canonical.dumps(facts)),
        vote,
    )
    return _decided(decision, DecisionState.OPEN, chosen, vote, come_to)


def tell_of_broken_glass(decision: Decision, case: Case, vote: Vote) -> None:
    """Loud: an event of its own, and whoever should have been asked is told."""
    facts = {**_facts(decision, vote), "requester": case.requester}
    body = canonical.dumps(facts)
    _note(decision, Draft(kind="decision.glass_broken", step=decision.step, body=body), vote)
    tell(
        tenant_id=decision.tenant_id,
        run_id=decision.run_id,
        kind="decision.glass_broken",
        title=f"{vote.by} broke the glass: decided alone what takes others, in {decision.workflow}",
        link=f"/decisions/{decision.pk}/",
        dedup_key=f"decision.glass_broken:{decision.pk}",
        severity="critical",
        workflow=decision.workflow,
        groups=sorted(case.groups),
    )


def _decided(
    decision: Decision, state: DecisionState, chosen: Option, vote: Vote, come_to: Tally
) -> Decided:
    return Decided(
        decision_id=decision.pk,
        state=state,
        option=chosen.key,
        then=chosen.then,
        digest=vote.digest,
        tally=come_to,
    )


def _note(decision: Decision, draft: Draft, vote: Vote) -> None:
    run, _ = waits.lock_open(decision.wait_id)
    transitions.note(run, events=[draft], now=vote.at, actor=vote.by)


def _because(case: Case, vote: Vote) -> str:
    """What is remarkable about who answered, for everybody who reads how it ended."""
    said = []
    if vote.on_behalf_of:
        said.append(f"In the place of {vote.on_behalf_of}, who had delegated it.")
    if vote.break_glass:
        said.append("By breaking the glass.")
    elif agreed := _agreed(case, vote).get("with"):
        said.append(f"With {' and '.join(agreed)}.")
    return " ".join(said)


def _agreed(case: Case, vote: Vote) -> dict[str, Any]:
    """Who had said the same before."""
    same = [each.by for each in case.votes if each.says_the_same_as(cast_of(vote))]
    return {"with": same} if same and not vote.break_glass else {}


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
        **voting.bound(vote),
        **({"in_place_of": vote.on_behalf_of} if vote.on_behalf_of else {}),
        **({"glass_broken": True} if vote.break_glass else {}),
    }
