"""Decisions in lists: those for this actor, those for others, the one behind this one."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Max, Q, QuerySet, Sum

from approvals.models import Claim, Decision, Handover
from approvals.queries import in_hand
from approvals.queries.mine import is_for
from approvals.queries.visible import groups_of, open_decisions
from approvals.rules.looks import look_kind, word_of
from runs.queries.clock import db_now
from runs.queries.keyset import Position, Slice, slice_of
from runs.rules.policy import Actor
from runs.rules.states import DecisionState

PAGE = 50
OUTCOMES = {"cancel": "the run is cancelled", "fail": "the run fails"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One decision in a list, finished: the template only places it."""

    decision: Decision
    groups: tuple[str, ...]
    due_at: datetime | None
    outcome: str
    look: str
    word: str
    reader: str = ""
    expected: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lines:
    """A part of one of the lists, and where its neighbours start."""

    lines: list[Line]
    newer: Position | None
    older: Position | None


def yours(actor: Actor, position: Position | None) -> Lines:
    """What this actor may answer: what a clock will close first, then what has waited longest."""
    mine = open_decisions(actor).filter(is_for(actor), takes_effect_at=None)
    return lines_of(mine, position)


def others(actor: Actor, position: Position | None) -> Lines:
    """What waits for somebody else."""
    mine = is_for(actor) & Q(takes_effect_at=None)
    return lines_of(open_decisions(actor).exclude(mine), position)


def lines_of(
    rows: QuerySet[Decision],
    position: Position | None,
    *,
    by: str = "urgent_at",
    descending: bool = False,
) -> Lines:
    found: Slice[Decision] = slice_of(
        rows.select_related("run").prefetch_related("audience"),
        by=by,
        position=position,
        size=PAGE,
        descending=descending,
    )
    ids = [one.pk for one in found.rows if one.closed_at is None]
    claims, handed = in_hand.claims_of(ids, now=db_now()), in_hand.handed_of(ids)
    lines = [line_of(one, claims.get(one.pk), handed.get(one.pk)) for one in found.rows]
    return Lines(lines=lines, newer=found.newer, older=found.older)


def line_of(decision: Decision, claim: Claim | None = None, handed: Handover | None = None) -> Line:
    return Line(
        decision=decision,
        groups=tuple(sorted(groups_of(decision))),
        due_at=decision.expires_at,
        outcome=outcome_of(decision),
        look=look_kind(decision.kind),
        word=word_of(decision.kind),
        reader=claim.by if claim else "",
        expected=(handed.to_name or handed.to_group) if handed else "",
    )


def outcome_of(decision: Decision) -> str:
    """What happens at `expires_at` if nobody answers; never an approval (I13)."""
    return OUTCOMES.get(decision.on_expiry, "it stays open and the run stays parked")


def version_of(actor: Actor) -> str:
    """Changes with every decision that opens, changes or closes; one indexed read."""
    seen = open_decisions(actor).aggregate(open=Count("pk"), seq=Sum("seq"), last=Max("pk"))
    hands = in_hand.newest(now=db_now())
    return f"{seen['open']}-{seen['seq'] or 0}-{seen['last'] or 0}-{hands}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """The open decisions of this actor that stand before and behind one in the list."""

    before: Decision | None
    after: Decision | None


def beside(actor: Actor, decision: Decision) -> Beside:
    """Behind the last one comes the first of all."""
    rows = open_decisions(actor).filter(is_for(actor)).exclude(pk=decision.pk)
    is_open = decision.state == DecisionState.OPEN.value
    return Beside(
        before=_neighbour(rows, decision, back=True) if is_open else None,
        after=_neighbour(rows, decision) or rows.order_by("urgent_at", "pk").first(),
    )


def _neighbour(
    rows: QuerySet[Decision], decision: Decision, *, back: bool = False
) -> Decision | None:
    here = Position(value=decision.urgent_at.isoformat(), pk=str(decision.pk), back=back)
    found = slice_of(rows, by="urgent_at", position=here, size=1, descending=False).rows
    return found[0] if found else None


def next_for(actor: Actor, decision: Decision) -> Decision | None:
    """What this actor may answer next: the one behind this, else the first of all."""
    return beside(actor, decision).after
