"""What was done in a tenant beside its runs: the tenant's own chain, a page at a time, hashed anew."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from runs.models import AuditEvent, Tenant
from runs.queries.chain_lines import chain_line
from runs.queries.keyset import Position, Slice, slice_of
from runs.queries.visibility import visible_to
from runs.rules import redaction, spreadsheet
from runs.rules.chain import fault_of
from runs.rules.policy import Actor

PAGE = 50
LONGEST = 240
# A spreadsheet of more is read by nobody; the whole chain is exported beside it.
MOST_IN_A_SHEET = 10_000
HEADS = ("no.", "when", "who", "what", "run", "about", "body", "hash")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which acts a list is about; empty means any."""

    by: str = ""
    what: str = ""

    @property
    def is_any(self) -> bool:
        return not (self.by or self.what)


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """One event of the chain, as a list says it."""

    event: AuditEvent
    about: str
    body: str
    run: UUID | None

    @property
    def says(self) -> str:
        return self.event.kind.replace(".", " ").replace("_", " ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Acts:
    """A page of them; `fault` says what is wrong with the first that does not verify."""

    acts: Sequence[Act]
    found: Slice[AuditEvent]
    fault: str


def acts_of(actor: Actor, tenant: int, wanted: Wanted, *, position: Position | None) -> Acts:
    # Before its events: what is added meanwhile is then no gap at the top.
    head = visible_to(actor, Tenant.objects.filter(pk=tenant), through="pk").get()
    rows = _wanted(actor, tenant, wanted)
    found = slice_of(rows, by="seq", position=position, size=PAGE)
    at_the_top = wanted.is_any and position is None
    missing = _fault_of_the_top(head, found.rows) if at_the_top else ""
    return Acts(
        acts=[_act(event, _said(event.body)) for event in found.rows],
        found=found,
        fault=missing or _fault(found.rows),
    )


def lines(actor: Actor, tenant: int) -> Iterator[dict[str, Any]]:
    """The whole chain, with all that its hashes cover, the oldest first."""
    for event in _chain(actor, tenant).order_by("seq").iterator(chunk_size=1_000):
        yield chain_line(event, body=event.body)


def sheet(actor: Actor, tenant: int, wanted: Wanted, *, most: int) -> Iterator[str]:
    """What is wanted as lines of a spreadsheet, the newest first; that it was cut is its last line."""
    yield spreadsheet.line(HEADS)
    rows = _wanted(actor, tenant, wanted).order_by("-seq")[: most + 1]
    for place, event in enumerate(rows.iterator(chunk_size=1_000), start=1):
        if place > most:
            yield spreadsheet.line([f"Cut here: this file holds the newest {most:,} that fit."])
            return
        yield spreadsheet.line(_cells(event))


def _cells(event: AuditEvent) -> list[str]:
    """In the order of HEADS; without what has the shape, or the name, of a secret."""
    body = redaction.shown(_said(event.body)).value
    act = _act(event, body)
    at, whole = event.at.isoformat(), json.dumps(body, ensure_ascii=False)
    return [
        str(event.seq),
        at,
        event.actor,
        act.says,
        str(act.run or ""),
        act.about,
        whole,
        event.hash,
    ]


def _wanted(actor: Actor, tenant: int, wanted: Wanted) -> QuerySet[AuditEvent]:
    rows = _chain(actor, tenant)
    if wanted.by:
        rows = rows.filter(actor__icontains=wanted.by)
    for word in wanted.what.split():
        rows = rows.filter(kind__icontains=word)
    return rows


def _chain(actor: Actor, tenant: int) -> QuerySet[AuditEvent]:
    return visible_to(actor, AuditEvent.objects.filter(tenant_id=tenant, run=None))


def _act(event: AuditEvent, body: dict[str, Any]) -> Act:
    said = [f"{k.replace('_', ' ')} {_word(v)}" for k, v in body.items() if v not in (None, "", [])]
    return Act(
        event=event,
        about=" · ".join(said)[:LONGEST],
        body=json.dumps(body, indent=2, ensure_ascii=False)[:4096] if body else "",
        run=_run_in(body),
    )


def _said(text: str) -> dict[str, Any]:
    """Nothing, where somebody has put there what is no body of an event: the fault on top says so."""
    try:
        found = json.loads(text or "{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _word(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _run_in(body: dict[str, Any]) -> UUID | None:
    try:
        return UUID(body["run"])
    except (KeyError, ValueError, TypeError, AttributeError):
        return None


def _fault_of_the_top(head: Tenant, rows: Sequence[AuditEvent]) -> str:
    newest = rows[0] if rows else None
    if head.seq and (newest is None or newest.seq < head.seq):
        return f"event {head.seq}, the last one, is missing"
    if newest is not None and newest.seq == head.seq and newest.hash != head.head:
        return f"event {newest.seq} ({newest.kind}) is not the last one that was written"
    return ""


def _fault(rows: Sequence[AuditEvent]) -> str:
    """The newest first; each by itself, and against its neighbour where that is here too."""
    for event in rows:
        if fault := fault_of(event, prev=event.prev, place=event.seq):
            return fault
    for newer, older in pairwise(rows):
        if newer.seq == older.seq + 1 and newer.prev != older.hash:
            return (
                f"event {newer.seq} ({newer.kind}) names another event before it than the one there"
            )
    return ""
