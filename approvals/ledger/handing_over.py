"""Somebody else is expected to answer from now on; who may answer stays as it was asked."""

from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from approvals.ledger import claiming
from approvals.ledger.holding import require_open
from approvals.models import Decision, Handover
from approvals.queries.cases import case_of
from approvals.queries.people import deciders
from approvals.queries.visible import groups_of, visible_decision
from approvals.rules import door
from runs.ledger.commits import commits
from runs.ledger.telling import tell
from runs.queries.clock import db_now
from runs.queries.hearing import hearing
from runs.rules.hearing import Hearing
from runs.rules.policy import Actor

LONGEST = 1000


class MayNotAnswer(ValueError):
    """Whoever it would be handed to may not answer it; the message says who may."""


@commits("handed_over")
def hand_over(
    actor: Actor, decision_id: int, *, person: str = "", group: str = "", because: str = ""
) -> Handover:
    """Say who is expected to answer, a person or a group, and tell them.

    Raises NoSuchDecision, DecisionClosed, DecisionExpired, NotYours, MayNotAnswer.
    """
    with transaction.atomic():
        now = db_now()
        decision = visible_decision(actor, decision_id)
        require_open(decision, now=now)
        found = door.standing(actor, case_of(actor, decision, now=now))
        if isinstance(found, door.Refusal):
            raise door.NotYours(found)
        to = _person(decision, person) if person or not group else None
        if to is None:
            _require_asked(decision, group)
        claiming.end(decision, now=now)
        handed = Handover.objects.create(
            decision=decision,
            by=actor.name,
            to_user=to,
            to_name=to.get_username() if to else "",
            to_group="" if to else group,
            because=because.strip()[:LONGEST],
            at=now,
        )
        _tell(decision, handed)
    return handed


def heard(handed: Handover) -> Hearing:
    """Who is told of it, and who is not."""
    decision = handed.decision
    return hearing(
        tenant_id=decision.tenant_id,
        workflow=decision.workflow,
        named=handed.to_name or f"“{handed.to_group}”",
        **_whom(handed),
    )


def _whom(handed: Handover) -> dict[str, Any]:
    return {
        "users": [handed.to_user_id] if handed.to_user_id else [],
        "groups": [handed.to_group] if handed.to_group else [],
    }


def _person(decision: Decision, name: str) -> User:
    may = deciders(tenant_id=decision.tenant_id, groups=groups_of(decision))
    found = may.filter(username=name).first()
    if found is None:
        names = ", ".join(may.values_list("username", flat=True)[:10]) or "nobody"
        raise MayNotAnswer(f"“{name}” may not answer this. Who may: {names}.")
    return found


def _require_asked(decision: Decision, group: str) -> None:
    asked = groups_of(decision)
    if not asked and not _may_answer(decision, group):
        raise MayNotAnswer(f"Nobody of “{group}” may answer this.")
    if asked and group not in asked:
        named = ", ".join(f"“{name}”" for name in sorted(asked))
        raise MayNotAnswer(f"“{group}” may not answer this. The groups that may: {named}.")


def _may_answer(decision: Decision, group: str) -> bool:
    """Whether anybody of the group may, where no group is asked."""
    may = deciders(tenant_id=decision.tenant_id, groups=())
    return may.filter(groups__name=group).exists()


def _tell(decision: Decision, handed: Handover) -> None:
    tell(
        tenant_id=decision.tenant_id,
        run_id=decision.run_id,
        kind="decision.handed_over",
        title=f"{handed.by} hands you a decision of {decision.workflow}",
        link=f"/decisions/{decision.pk}/",
        dedup_key=f"decision.handed_over:{handed.pk}",
        workflow=decision.workflow,
        **_whom(handed),
    )
