"""The calls of a list, page by page, one alone, or all of them one after the other."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from approvals.models import Decision, Strike
from approvals.queries import lists
from approvals.queries.finding import ordinals_that_name, safe
from approvals.rules.columns import MOST_COLUMNS, Cell, cell_of, cells_of, columns_of
from approvals.rules.columns import SHOWN as CELL
from approvals.rules.sight import MOST_WHOLE
from runs.queries.keyset import Position, slice_of
from runs.rules import canonical
from runs.rules.payloads import Payload, payload_of

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from runs.models import PlannedCall

PAGE = 100
SAMPLE = 200
WHOLE = 10_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRow:
    """One call of the list as its page shows it."""

    ordinal: int
    effect: str
    resource: str
    cells: dict[str, Cell]
    request: Cell
    struck: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CallsPage:
    """A part of the list: the columns are made of what the evidence itself names."""

    rows: list[CallRow]
    columns: tuple[str, ...]
    effects: tuple[str, ...]
    amount: int
    newer: Position | None
    older: Position | None

    @property
    def first(self) -> int:
        return self.rows[0].ordinal

    @property
    def last(self) -> int:
        return self.rows[-1].ordinal


@dataclass(frozen=True, slots=True, kw_only=True)
class OneCall:
    """One call with all its bytes."""

    row: "PlannedCall"
    request: Payload
    evidence: Payload
    strike: Strike | None
    before: int | None
    after: int | None


def page_of(
    decision: Decision,
    *,
    visible: bool,
    text: str,
    position: Position | None,
    whole: bool = False,
) -> CallsPage:
    """A hundred calls; evidence and request only for those who may see payloads.

    `whole`: as many as one page holds, with nothing cut away.
    """
    plan = lists.plan_of(decision)
    rows, named = lists.rows_of(decision, plan), None
    size, most = (MOST_WHOLE, WHOLE) if whole else (PAGE, CELL)
    if text:
        named = ordinals_that_name(decision, text, visible=visible)
        rows = rows.filter(ordinal__in=_beyond(named, position, size=size))
    found = slice_of(rows, by="ordinal", position=position, size=size, descending=False)
    evidence = [safe(plan, row.effect, row.evidence) if visible else None for row in found.rows]
    columns = columns_of(evidence, most=WHOLE if whole else MOST_COLUMNS) if visible else ()
    struck = _struck_among(decision, [row.ordinal for row in found.rows])
    shown = [
        CallRow(
            ordinal=row.ordinal,
            effect=row.effect,
            resource=row.resource,
            cells=dict(zip(columns, cells_of(said, columns, most=most), strict=True)),
            request=cell_of(safe(plan, row.effect, row.request) if visible else None, most=most),
            struck=row.ordinal in struck,
        )
        for row, said in zip(found.rows, evidence, strict=True)
    ]
    return CallsPage(
        rows=shown,
        columns=columns,
        effects=tuple(sorted(plan.effects)),
        amount=plan.count if named is None else len(named),
        newer=found.newer,
        older=found.older,
    )


def _beyond(ordinals: Sequence[int], position: Position | None, *, size: int) -> Sequence[int]:
    """As many of these as a slice beside this position has to look at."""
    if position is None or not position.value.isdecimal():
        return ordinals[: size + 1]
    at = int(position.value)
    if position.back:
        return [each for each in ordinals if each < at][-size - 1 :]
    return [each for each in ordinals if each > at][: size + 1]


def _struck_among(decision: Decision, ordinals: list[int]) -> frozenset[int]:
    rows = Strike.objects.filter(decision=decision, struck=True, ordinal__in=ordinals)
    return frozenset(rows.values_list("ordinal", flat=True))


def call_of(decision: Decision, ordinal: int, *, visible: bool) -> OneCall | None:
    plan = lists.plan_of(decision)
    rows = lists.rows_of(decision, plan)
    row = rows.filter(ordinal=ordinal).first()
    if row is None:
        return None
    paths, digest = plan.redact.get(row.effect, ()), row.request_digest
    return OneCall(
        row=row,
        request=payload_of(row.request, visible=visible, digest=digest, most=WHOLE, paths=paths),
        evidence=payload_of(row.evidence, visible=visible, most=WHOLE, paths=paths),
        strike=Strike.objects.filter(decision=decision, ordinal=ordinal).first(),
        before=_beside(rows.filter(ordinal__lt=ordinal).order_by("-ordinal")),
        after=_beside(rows.filter(ordinal__gt=ordinal).order_by("ordinal")),
    )


def _beside(rows: "QuerySet[PlannedCall]") -> int | None:
    return rows.values_list("ordinal", flat=True).first()


def every_call(decision: Decision) -> Iterator[dict[str, Any]]:
    """The whole list in order, each call with its evidence, its digest and whether it is struck."""
    struck, plan = lists.struck_of(decision), lists.plan_of(decision)
    rows = lists.rows_of(decision, plan).order_by("ordinal")
    for row in rows.iterator(chunk_size=1000):
        yield {
            "ordinal": row.ordinal,
            "effect": row.effect,
            "resource": row.resource,
            "request": safe(plan, row.effect, row.request),
            "evidence": safe(plan, row.effect, row.evidence),
            "digest": row.digest,
            "struck": row.ordinal in struck,
        }


def evidence_columns(decision: Decision) -> tuple[str, ...]:
    """The names that the evidence of the first calls uses."""
    rows = lists.rows_of(decision, lists.plan_of(decision)).order_by("ordinal")[:SAMPLE]
    return columns_of(canonical.loads(text) for text in rows.values_list("evidence", flat=True))
