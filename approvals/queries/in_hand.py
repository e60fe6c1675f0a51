"""In whose hands open decisions are: who reads one, to whom it was handed, whose answer waits."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import Group, User
from django.db.models import Max, Q, QuerySet

from approvals.models import Claim, Decision, Handover, Notice, Vote
from approvals.queries.alike import how_many_alike
from approvals.queries.people import deciders
from approvals.queries.visible import groups_of, open_decisions
from approvals.rules.timing import terms_of, timing_of
from runs.rules import canonical
from runs.rules.policy import Actor

MOST_NAMED = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """When people are told again, or were; `groups` are those that are asked too from then on."""

    at: datetime
    done: bool
    groups: str


@dataclass(frozen=True, slots=True, kw_only=True)
class InHand:
    """Of one decision; `answer` is the reader's own that counts and has not taken effect."""

    claim: Claim | None
    handed: Handover | None
    mine: bool
    answer: Vote | None
    people: Sequence[str]
    without_address: Sequence[str]
    groups: Sequence[str]
    alike: int
    terms: Sequence[str]
    notices: Sequence[Told]


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A line of the page of what is in somebody's hands."""

    decision: Decision
    claim: Claim | None
    handed: Handover | None


@dataclass(frozen=True, slots=True, kw_only=True)
class InHands:
    mine: Sequence[Held]
    others: Sequence[Held]
    waiting: Sequence[Decision]


def in_hand(actor: Actor, decision: Decision, *, now: datetime) -> InHand:
    claim = reader_of(decision, now=now)
    may = deciders(tenant_id=decision.tenant_id, groups=groups_of(decision))
    others = list(may.exclude(username=actor.name).values_list("username", "email")[:MOST_NAMED])
    return InHand(
        claim=claim,
        handed=handed_of([decision.pk]).get(decision.pk),
        mine=claim is not None and claim.by == actor.name,
        answer=Vote.objects.filter(decision=decision, by=actor.name, void_at=None).first(),
        people=[name for name, _ in others],
        without_address=[name for name, email in others if not email],
        groups=sorted(groups_of(decision)) or _groups_of(may),
        alike=how_many_alike(actor, decision),
        terms=terms_of(timing_of(decision.ask)),
        notices=_notices(decision),
    )


def _notices(decision: Decision) -> list[Told]:
    rows = Notice.objects.filter(decision=decision).order_by("due_at", "pk")
    return [
        Told(
            at=each.told_at or each.due_at,
            done=each.told_at is not None,
            groups=", ".join(canonical.loads(each.groups)),
        )
        for each in rows
    ]


def _groups_of(people: QuerySet[User]) -> list[str]:
    found = Group.objects.filter(user__in=people.order_by()).distinct().order_by("name")
    return list(found.values_list("name", flat=True)[:MOST_NAMED])


def _live(now: datetime) -> QuerySet[Claim]:
    return Claim.objects.filter(ended_at=None, until__gt=now)


def reader_of(decision: Decision, *, now: datetime) -> Claim | None:
    """Who reads this one at present."""
    return _live(now).filter(decision=decision).first()


def claims_of(decision_ids: Collection[int], *, now: datetime) -> dict[int, Claim]:
    """Who reads which of these."""
    if not decision_ids:
        return {}
    rows = _live(now).filter(decision_id__in=list(decision_ids))
    return {claim.decision_id: claim for claim in rows}


def handed_of(decision_ids: Collection[int]) -> dict[int, Handover]:
    """To whom each of these was handed last."""
    if not decision_ids:
        return {}
    rows = Handover.objects.filter(decision_id__in=list(decision_ids)).order_by("pk")
    return {handed.decision_id: handed for handed in rows}


def version_of(decision: Decision, claim: Claim | None) -> str:
    """Changes with the decision itself, and with who reads it."""
    return f"{decision.seq}-{claim.pk}-{claim.until:%H%M%S}" if claim else str(decision.seq)


def newest(*, now: datetime) -> str:
    """Changes when anybody begins or ceases to read anything, or hands it over."""
    claim = _live(now).aggregate(last=Max("until"))["last"]
    handed = Handover.objects.aggregate(last=Max("pk"))["last"]
    return f"{claim:%d%H%M%S}-{handed or 0}" if claim else f"0-{handed or 0}"


def in_hands(actor: Actor, *, now: datetime) -> InHands:
    """Everything open that somebody reads, was handed to somebody, or whose answer waits."""
    rows = open_decisions(actor).select_related("run").order_by("urgent_at", "pk")
    named = rows.filter(
        Q(pk__in=_live(now).values("decision_id")) | Q(handovers__isnull=False)
    ).distinct()[:MOST_NAMED]
    ids = [each.pk for each in named]
    claims, handed = claims_of(ids, now=now), handed_of(ids)
    held = [
        Held(decision=each, claim=claims.get(each.pk), handed=handed.get(each.pk)) for each in named
    ]
    return InHands(
        mine=[each for each in held if _is_mine(actor, each)],
        others=[each for each in held if not _is_mine(actor, each)],
        waiting=list(rows.filter(takes_effect_at__isnull=False)[:MOST_NAMED]),
    )


def _is_mine(actor: Actor, held: Held) -> bool:
    if held.claim is not None:
        return held.claim.by == actor.name
    handed = held.handed
    return handed is not None and (handed.to_name == actor.name or handed.to_group in actor.groups)
