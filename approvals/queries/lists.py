"""The list of calls that a decision is about: its rows, what is struck off, the digest of the rest."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from approvals.models import Decision, Strike
from approvals.rules.asked import PlanAsked, asked_of
from runs.queries.desk import planned_rows
from runs.rules.planned import call_digest, list_digest

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from runs.models import PlannedCall


@dataclass(frozen=True, slots=True, kw_only=True)
class Remaining:
    """What an approval of a list binds: how many calls, and the digest over them."""

    count: int
    digest: str


def plan_of(decision: Decision) -> PlanAsked:
    plan = asked_of(decision.ask).plan
    if plan is None:
        raise ValueError(f"Decision {decision.pk} is about no list.")
    return plan


def rows_of(decision: Decision, plan: PlanAsked) -> "QuerySet[PlannedCall]":
    planned_in = plan.generation or decision.generation
    return planned_rows(decision.run_id, plan=plan.name, generation=planned_in)


def struck_of(decision: Decision) -> frozenset[int]:
    """Which calls are struck off, by their ordinals."""
    rows = Strike.objects.filter(decision=decision, struck=True)
    return frozenset(rows.values_list("ordinal", flat=True))


def remaining(decision: Decision, struck: Collection[int]) -> Remaining:
    """What is left of the stored list."""
    rows = rows_of(decision, plan_of(decision)).order_by("ordinal")
    kept = [
        digest
        for ordinal, digest in rows.values_list("ordinal", "digest").iterator(chunk_size=5000)
        if ordinal not in struck
    ]
    return Remaining(count=len(kept), digest=list_digest(kept))


def altered(decision: Decision) -> list[int]:
    """Ordinals of calls whose bytes are not those that their digest was made of."""
    plan = plan_of(decision)
    return [
        row.ordinal
        for row in _in_order(decision, plan)
        if row.effect in plan.effects and _digest(row, plan) != row.digest
    ]


def _in_order(decision: Decision, plan: PlanAsked) -> "Iterator[PlannedCall]":
    return rows_of(decision, plan).order_by("ordinal").iterator(chunk_size=1000)


def _digest(row: "PlannedCall", plan: PlanAsked) -> str:
    return call_digest(
        effect=row.effect,
        fingerprint=plan.effects[row.effect],
        resource=row.resource,
        request=row.request,
        evidence=row.evidence,
    )


def struck_since(decision: Decision, seq: int) -> list[Strike]:
    """The calls that were struck off or put back after a page with this number was shown."""
    return list(Strike.objects.filter(decision=decision, seq__gt=seq).order_by("ordinal")[:200])
