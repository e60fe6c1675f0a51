"""Decisions that are alike enough to be answered together, and what became of those that were."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.db.models import Count, Min, QuerySet

from approvals.models import Batch, BatchItem, Decision
from approvals.queries import calls
from approvals.queries.mine import is_for
from approvals.queries.sights import folded_of
from approvals.queries.visible import open_decisions
from approvals.rules.asked import Asked, Option, asked_of
from approvals.rules.columns import Cell, cell_of
from runs.queries.visibility import visible_to
from runs.rules import redaction
from runs.rules.policy import Actor, Verb, may

SHOWN = 100


class NoSuchBatch(Exception):
    """There is no such batch, or it belongs to a tenant that this actor does not see."""


class NoneAlike(Exception):
    """No open decisions of this shape wait for this actor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Alike:
    """How many open decisions of one shape wait, since when."""

    first: Decision
    amount: int
    since: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class CallShown:
    """One call, with its request and each part of its evidence on a line."""

    effect: str
    resource: str
    request: Cell
    evidence: Sequence[tuple[str, Cell]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One of them, with its calls; `folded` is what is not shown whole here, in words."""

    decision: Decision
    calls: Sequence[CallShown]
    evidence: Cell
    folded: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """All that are alike, and what may be answered to all of them."""

    shape: str
    first: Decision
    asked: Asked
    options: Sequence[Option]
    members: Sequence[Member]
    amount: int


def alike(actor: Actor) -> QuerySet[Decision]:
    """Open ones that this actor may answer together with others; never what cannot be undone."""
    rows = open_decisions(actor).filter(is_for(actor), irreversible=False)
    return rows.filter(takes_effect_at=None, rule=None).exclude(shape="")


def how_many_alike(actor: Actor, decision: Decision) -> int:
    """How many others this actor could answer together with this one."""
    if not decision.shape or decision.irreversible:
        return 0
    rows = alike(actor).filter(tenant_id=decision.tenant_id, shape=decision.shape)
    return rows.exclude(pk=decision.pk).count()


def groups_for(actor: Actor) -> list[Alike]:
    """Shapes that more than one open decision has, the most first."""
    rows = (
        alike(actor)
        .order_by()
        .values("tenant_id", "shape")
        .annotate(amount=Count("pk"), first=Min("pk"), since=Min("opened_at"))
        .filter(amount__gt=1)
        .order_by("-amount", "first")[:50]
    )
    found = {row["first"]: row for row in rows}
    firsts = Decision.objects.in_bulk(list(found))
    return [
        Alike(first=firsts[pk], amount=row["amount"], since=row["since"])
        for pk, row in found.items()
    ]


def group_of(actor: Actor, decision_id: int) -> Group:
    """The open decisions that are like this one, the oldest first. Raises NoneAlike."""
    first = alike(actor).filter(pk=decision_id).first()
    if first is None:
        raise NoneAlike(f"Nothing open is like decision {decision_id}.")
    rows = alike(actor).filter(tenant_id=first.tenant_id, shape=first.shape)
    found = rows.select_related("run").order_by("opened_at", "pk")
    visible, asked = may(actor, Verb.VIEW_PAYLOADS), asked_of(first.ask)
    return Group(
        shape=first.shape,
        first=first,
        asked=asked,
        options=[_of_each(asked, each) for each in asked.options if not asked.grave(each)],
        members=[_member(each, visible=visible) for each in found[:SHOWN]],
        amount=rows.count(),
    )


def _of_each(asked: Asked, option: Option) -> Option:
    """What the option does in each run, where its own words count the calls of one."""
    if not asked.approves or option.then != "resume":
        return option
    said = "In each run exactly the calls shown are made, each once, under its own key; then it goes on."
    return replace(option, consequence=said)


def _member(decision: Decision, *, visible: bool) -> Member:
    asked = asked_of(decision.ask)
    evidence = redaction.shown(asked.evidence, paths=asked.redact).value if visible else None
    return Member(
        decision=decision,
        calls=_calls(decision, asked, visible=visible),
        evidence=cell_of(evidence),
        folded=folded_in_words(decision, asked),
    )


def _calls(decision: Decision, asked: Asked, *, visible: bool) -> list[CallShown]:
    if asked.call is not None:
        request = redaction.shown(asked.call.get("request"), paths=asked.redact).value
        named = {name: str(asked.call[name]) for name in ("effect", "resource")}
        shown = cell_of(request if visible else None)
        return [CallShown(**named, request=shown, evidence=())]
    if asked.plan is None:
        return []
    found = calls.page_of(decision, visible=visible, text="", position=None)
    return [
        CallShown(
            effect=row.effect,
            resource=row.resource,
            request=row.request,
            evidence=[(name, cell) for name, cell in row.cells.items() if cell.length],
        )
        for row in found.rows
        if not row.struck
    ]


def folded_in_words(decision: Decision, asked: Asked) -> str:
    """What of it stands only on its own page; empty where all of it is in view among others."""
    cut = asked.call is not None and cell_of(asked.call.get("request")).cut
    parts = [f"{each.what}: {each.shown} of {each.size}" for each in folded_of(decision, asked)]
    if (cut or cell_of(asked.evidence).cut) and not parts:
        parts.append("its request or evidence is long")
    return "; ".join(parts)


def visible_batch(actor: Actor, batch_id: int) -> Batch:
    found = visible_to(actor, Batch.objects.all()).filter(pk=batch_id).first()
    if found is None:
        raise NoSuchBatch(f"There is no batch {batch_id}.")
    return found


def batches(actor: Actor) -> list[Batch]:
    """The last ones, the newest first."""
    return list(visible_to(actor, Batch.objects.all()).order_by("-pk")[:20])


def items_of(batch: Batch) -> QuerySet[BatchItem]:
    rows = BatchItem.objects.filter(batch=batch).select_related("decision__run")
    return rows.order_by("pk")


def counts_of(batch: Batch) -> dict[str, int]:
    """How many of it were answered, passed or refused; those that are left stand under `left`."""
    rows = BatchItem.objects.filter(batch=batch).order_by().values("outcome")
    found: dict[str, Any] = {
        row["outcome"] or "left": row["amount"] for row in rows.annotate(amount=Count("pk"))
    }
    return {name: found.get(name, 0) for name in ("answered", "passed", "refused", "left")}


def batch_of(item_id: int) -> BatchItem:
    """An item with its batch as it is now."""
    return BatchItem.objects.select_related("batch").get(pk=item_id)


def whose(item_id: int) -> int | None:
    """The person who answers with this item."""
    found: int | None = BatchItem.objects.values_list("batch__user_id", flat=True).get(pk=item_id)
    return found
