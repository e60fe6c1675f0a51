"""A person's vote is kept, bound to what they were shown; or votes cease to count."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Q

from approvals.models import Claim, Decision, Strike, Vote
from approvals.rules import binding, door
from approvals.rules.asked import Option
from approvals.rules.case import Case, Standing
from runs.queries.bundling import rows
from runs.rules import canonical
from runs.rules.policy import Actor


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """Where an answer came in: by the page or by a command, and from which address."""

    name: str
    address: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """All that a person says with one answer, as it was validated."""

    chosen: Option
    fields: Mapping[str, Any]
    comment: str
    struck: Collection[int]
    through: Door
    break_glass: bool = False


def cast(
    actor: Actor,
    decision: Decision,
    case: Case,
    said: Said,
    *,
    by_right_of: Standing,
    now: datetime,
) -> Vote:
    """The database refuses a second one that counts, by the person or in the same place."""
    return Vote.objects.create(
        decision=decision,
        user_id=actor.user_id,
        by=actor.name,
        voice_id=by_right_of.voice_id,
        on_behalf_of=by_right_of.on_behalf_of,
        groups=canonical.dumps(sorted(by_right_of.groups)),
        option=said.chosen.key,
        fields=canonical.dumps(dict(said.fields)),
        comment=said.comment,
        digest=decision.digest,
        struck=canonical.dumps(sorted(said.struck)),
        alone=door.is_alone(actor, case),
        break_glass=said.break_glass,
        door=said.through.name,
        address=said.through.address,
        at=now,
    )


def bound(vote: Vote) -> dict[str, str]:
    """What the event of this vote binds; the decision is held, so that nobody strikes or claims."""
    of_it = {"decision_id": vote.decision_id}
    (row,) = rows(Vote.objects.filter(pk=vote.pk))
    return binding.bound(
        vote=row,
        strikes=rows(Strike.objects.filter(**of_it).order_by("pk")),
        claims=rows(Claim.objects.filter(**of_it).order_by("pk")),
    )


def annul(
    decision: Decision, *, because: str, now: datetime, by: str = "", voice_id: int | None = None
) -> int:
    """Votes count no more: all of the decision, or those by this name or in this place; how many."""
    counting = Vote.objects.filter(decision=decision, void_at__isnull=True)
    if by:
        in_place = Q(voice_id=voice_id) if voice_id else Q(pk__in=[])
        counting = counting.filter(Q(by=by) | in_place)
    return counting.update(void_at=now, void_because=because)
