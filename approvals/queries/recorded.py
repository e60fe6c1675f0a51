"""The page of a decision as data, at the moment of an answer and years later."""

from dataclasses import dataclass, fields
from typing import Any

from approvals.models import Decision, Record, Vote
from approvals.queries import lists
from approvals.queries.page import DecisionPage, page_of
from approvals.queries.visible import NoSuchDecision, groups_of, visible_decision
from approvals.rules import sheet
from runs.rules import canonical
from runs.rules.policy import Actor, Verb, may

# Rows and what is asked stand beside the page, in columns of their own.
APART = {"decision", "asked", "votes", "before", "after", "proof"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """A kept page, and whether it still is what its digest was made of."""

    record: Record
    vote: Vote
    decision: Decision
    sheet: dict[str, Any]
    given: dict[str, Any]
    intact: bool
    visible: bool


def sheet_of(actor: Actor, decision: Decision, *, but: Vote) -> dict[str, Any]:
    """All that the page says to this actor now; `but` is the answer that is being given."""
    page = page_of(actor, decision, but=but)
    return {
        "format": sheet.FORMAT,
        "seen_by": actor.name,
        "asked": _asked(page),
        "run": _run(decision),
        "list": _list(decision, page),
        "folded": [each.sentence for each in page.proof.folded],
        "askings": sheet.plain(page.proof.askings),
        "earlier": [_answer(vote) for vote in decision.votes.exclude(pk=but.pk).order_by("pk")],
        **{
            one.name: sheet.plain(getattr(page, one.name))
            for one in fields(page)
            if one.name not in APART
        },
    }


def _asked(page: DecisionPage) -> dict[str, Any]:
    decision = page.decision
    return {
        "decision": decision.pk,
        "kind": decision.kind,
        "question": decision.question,
        "step": decision.step,
        "irreversible": decision.irreversible,
        "groups": sorted(groups_of(decision)),
        "opened_at": decision.opened_at.isoformat(),
        "expires_at": decision.expires_at.isoformat() if decision.expires_at else None,
        "on_expiry": decision.on_expiry,
        "ask_digest": decision.ask_digest,
        "digest": decision.digest,
    }


def _run(decision: Decision) -> dict[str, Any]:
    run = decision.run
    return {
        "id": str(run.pk),
        "workflow": run.workflow,
        "version": run.version,
        "reference": run.reference,
        "started_by": run.started_by,
    }


def _list(decision: Decision, page: DecisionPage) -> dict[str, Any] | None:
    if page.asked.plan is None:
        return None
    struck = sorted(lists.struck_of(decision))
    return {
        "name": page.asked.plan.name,
        "planned": page.asked.plan.count,
        "planned_digest": page.asked.plan.digest,
        "left": page.asked.plan.count - len(struck),
        "struck": struck,
    }


def _answer(vote: Vote) -> dict[str, Any]:
    return {"by": vote.by, "option": vote.option, "at": vote.at.isoformat()}


def recorded(actor: Actor, decision_id: int, record_id: int) -> Recorded:
    """Raises NoSuchDecision; payloads only for whoever may see them today."""
    decision = visible_decision(actor, decision_id)
    record = decision.records.filter(pk=record_id).select_related("vote").first()
    if record is None:
        raise NoSuchDecision(f"Decision {decision_id} has no record {record_id}.")
    kept, visible = canonical.loads(record.sheet), may(actor, Verb.VIEW_PAYLOADS)
    return Recorded(
        record=record,
        vote=record.vote,
        decision=decision,
        sheet=kept if visible else sheet.hidden(kept),
        given=canonical.loads(record.vote.fields) if visible else {},
        intact=canonical.digest(record.sheet) == record.digest,
        visible=visible,
    )
