"""Decisions as data, for commands: what is listed, and all that is asked with one."""

from collections.abc import Collection
from typing import Any

from approvals.models import Decision
from approvals.queries import calls, inbox, lists
from approvals.queries.cases import case_of, come_to_so_far
from approvals.queries.mine import is_for
from approvals.queries.visible import groups_of, visible_decisions
from approvals.rules import door
from approvals.rules.asked import Asked, asked_of
from approvals.rules.case import left_of
from approvals.rules.schema import fields_of
from approvals.rules.supports import supported
from runs.queries.clock import db_now
from runs.rules import canonical, redaction
from runs.rules.policy import Actor, Verb, may
from runs.rules.states import DecisionState

STATES = ("open", "mine", "closed", "all")
HIDDEN = "hidden: it takes the permission “view_payloads”"


def listed(actor: Actor, *, state: str, limit: int) -> list[dict[str, Any]]:
    """Open ones in the order of their urgency, closed ones newest first."""
    rows = visible_decisions(actor).select_related("run").prefetch_related("audience")
    if state in ("open", "mine"):
        rows = rows.filter(state=DecisionState.OPEN.value)
        rows = rows.filter(is_for(actor)) if state == "mine" else rows
        found = rows.order_by("urgent_at", "pk")
    else:
        rows = rows.exclude(state=DecisionState.OPEN.value) if state == "closed" else rows
        found = rows.order_by("-opened_at", "-pk")
    return [summary(one) for one in found[:limit]]


def summary(decision: Decision) -> dict[str, Any]:
    return {
        "id": decision.pk,
        "kind": decision.kind,
        "state": decision.state,
        "question": decision.question,
        "run": str(decision.run_id),
        "reference": decision.run.reference,
        "workflow": decision.workflow,
        "step": decision.step,
        "irreversible": decision.irreversible,
        "groups": sorted(groups_of(decision)),
        "opened_at": decision.opened_at.isoformat(),
        "expires_at": decision.expires_at.isoformat() if decision.expires_at else None,
        "then": inbox.outcome_of(decision),
        "digest": decision.digest,
        "closed_by": decision.closed_by or None,
        "closed_at": decision.closed_at.isoformat() if decision.closed_at else None,
        "option": decision.option or None,
        "takes_effect_at": (
            decision.takes_effect_at.isoformat() if decision.takes_effect_at else None
        ),
    }


def shown(
    actor: Actor, decision: Decision, *, struck: Collection[int] | None, with_calls: bool
) -> dict[str, Any]:
    """One decision whole; `struck` shows what would be left without these calls."""
    asked, visible = asked_of(decision.ask), may(actor, Verb.VIEW_PAYLOADS)
    found = summary(decision) | {
        "digest": digest_left(decision, struck),
        "who": _who(actor, decision),
        "options": _options(asked),
        "evidence": _evidence(asked, visible=visible),
        "call": _call(asked, visible=visible),
        "plan": _plan(decision, asked, struck),
        "votes": [_vote(vote, visible=visible) for vote in decision.votes.order_by("pk")],
    }
    if with_calls and asked.plan is not None:
        found["calls"] = list(calls.every_call(decision)) if visible else HIDDEN
    return found


def _who(actor: Actor, decision: Decision) -> dict[str, Any]:
    """How many have to agree, who has, who is still needed, and what this actor is told."""
    case = case_of(actor, decision, now=db_now())
    come_to = come_to_so_far(case)
    is_open = decision.state == DecisionState.OPEN.value
    refused, stands = door.refusal(actor, case), door.standing_or_none(actor, case)
    return {
        "requester": case.requester,
        "requesters": [f"{each.name} {each.did}" for each in case.requesters],
        "needed": come_to.needed,
        "given": come_to.given,
        "by": [vote.by for vote in case.votes],
        "all_of": sorted(case.asked.all_of),
        "still": come_to.still if is_open else [],
        "people": left_of(case) if is_open else [],
        "you": (refused.sentence if refused else "may answer") if is_open else "",
        "in_place_of": stands.on_behalf_of if stands and is_open else "",
    }


def digest_left(decision: Decision, struck: Collection[int] | None) -> str:
    """What an answer would bind if exactly these calls were struck off; None: those that are."""
    if struck is None or decision.kind != "plan":
        return decision.digest
    return lists.remaining(decision, struck).digest


def _options(asked: Asked) -> list[dict[str, Any]]:
    speaks = supported(asked)
    return [
        {
            "key": option.key,
            "label": option.label,
            "consequence": option.consequence,
            "details": list(option.details),
            "supported_by": speaks.because if speaks and speaks.option == option.key else "",
            "needs_comment_and_digest": asked.grave(option),
            "fields": [
                {"name": field.name, "type": field.type, "required": field.required}
                for field in fields_of(option.fields)
            ],
        }
        for option in asked.options
    ]


def _call(asked: Asked, *, visible: bool) -> Any:
    if asked.call is None:
        return None
    request = redaction.shown(asked.call.get("request"), paths=asked.redact).value
    return {**asked.call, "request": request if visible else HIDDEN}


def _evidence(asked: Asked, *, visible: bool) -> Any:
    if not visible and asked.evidence:
        return HIDDEN
    return redaction.shown(asked.evidence, paths=asked.redact).value


def _plan(decision: Decision, asked: Asked, struck: Collection[int] | None) -> Any:
    if asked.plan is None:
        return None
    off = sorted(lists.struck_of(decision) if struck is None else set(struck))
    return {"name": asked.plan.name, "count": asked.plan.count, "struck": off}


def _vote(vote: Any, *, visible: bool) -> dict[str, Any]:
    return {
        "by": vote.by,
        "option": vote.option,
        "fields": canonical.loads(vote.fields) if visible else HIDDEN,
        "comment": vote.comment,
        "digest": vote.digest,
        "alone": vote.alone,
        "in_place_of": vote.on_behalf_of,
        "break_glass": vote.break_glass,
        "counts": vote.void_at is None,
        "because": vote.void_because,
        "at": vote.at.isoformat(),
    }
