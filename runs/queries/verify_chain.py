"""Whether the record of a run is whole and says what the tables say (I10, I12, R36, R37)."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

from runs.models import AuditEvent, Tenant
from runs.queries.audit_line import steps_calls_waits
from runs.queries.verify_subject import AT_ONCE, Subject, read
from runs.rules.chain import fault_of
from runs.rules.states import RunState, WaitKind, WaitState
from runs.rules.violations import Violation

# After each of these the audit line is written (I12).
STANDSTILLS = ("run.parked", "run.failed", "run.paused", "run.cancelled", "run.succeeded")
HAS_A_LINE = frozenset({RunState.FAILED, RunState.PAUSED, RunState.CANCELLED, RunState.SUCCEEDED})


def chain_holds(subject: Subject) -> Iterator[Violation]:
    """Every event follows the one before it, up to the head that the run's row names."""
    run, prev, place = subject.run, "", 0
    last: AuditEvent | None = None
    rows = AuditEvent.objects.filter(run=run).order_by("seq")
    for event in rows.iterator(chunk_size=AT_ONCE):
        place += 1
        if fault := fault_of(event, prev=prev, place=place):
            yield subject.violates("I12", f"The audit chain is broken: {fault}.")
            return
        if event.fence > run.fence:
            yield subject.violates(
                "I3", f"Event {place} ({event.kind}) has the fence {event.fence}, above the run's."
            )
        prev, last = event.hash, event
    if (place, prev) != (run.seq, run.head):
        yield subject.violates(
            "R36",
            f"The run's row names event {run.seq} as the last one of its chain; it is {place}.",
        )
    if subject.final and last is not None:
        yield from _closed(subject, last)


def _closed(subject: Subject, last: AuditEvent) -> Iterator[Violation]:
    ended = subject.run.ended_at
    if ended is not None and last.at > ended:
        yield subject.violates(
            "I10", f"Event {last.seq} ({last.kind}) is later than the run's end."
        )
    if last.kind != "audit.line":
        yield subject.violates(
            "R37", f"The chain closes with {last.kind}, not with the audit line."
        )


def line_equals_tables(subject: Subject) -> Iterator[Violation]:
    """Whoever stopped, or waits for a person, has an audit line that the tables agree with."""
    if not _needs_a_line(subject):
        return
    events = AuditEvent.objects.filter(run=subject.run)
    line = events.filter(kind="audit.line").order_by("-seq").first()
    stopped = events.filter(kind__in=STANDSTILLS).order_by("-seq").first()
    if line is None or (stopped is not None and line.seq < stopped.seq):
        yield subject.violates("I12", f"It is {subject.state.value} without an audit line for it.")
    elif line.body:
        yield from _differences(subject, read(line.body))


def _needs_a_line(subject: Subject) -> bool:
    asks = any(w.kind == WaitKind.DECISION and w.state == WaitState.OPEN for w in subject.waits)
    return subject.state in HAS_A_LINE or (subject.state is RunState.WAITING and asks)


def _differences(subject: Subject, line: Any) -> Iterator[Violation]:
    if not isinstance(line, dict):
        yield subject.violates("I12", "The audit line cannot be read.")
        return
    if line.get("state") != subject.state.value:
        yield subject.violates(
            "I12", f"The audit line says {line.get('state')}, the run is {subject.state.value}."
        )
    for name, rows in steps_calls_waits(subject.run.pk).items():
        if line.get(name) != rows:
            yield subject.violates(
                "I12",
                f"The audit line's {name} are not those of the tables{_first(line, name, rows)}.",
            )


def _first(line: dict[str, Any], name: str, rows: list[dict[str, Any]]) -> str:
    """Where the two lists first differ."""
    said = line.get(name) or []
    for place, row in enumerate(rows):
        if place >= len(said) or said[place] != row:
            return f": {row.get('key') or row.get('name')} differs"
    return f": it names {len(said)}, there are {len(rows)}"


def tenant_chains_hold() -> Iterator[Violation]:
    """What happened after its runs had ended stands in each tenant's own chain (R37)."""
    for tenant in Tenant.objects.order_by("pk"):
        yield from _tenant_chain(tenant)


def _tenant_chain(tenant: Tenant) -> Iterator[Violation]:
    prev, place = "", 0
    rows = AuditEvent.objects.filter(tenant=tenant, run=None).order_by("seq")
    for event in rows.iterator(chunk_size=AT_ONCE):
        place += 1
        if fault := fault_of(event, prev=prev, place=place):
            text = f"The audit chain of tenant {tenant.slug} is broken: {fault}."
            yield Violation(invariant="R37", run="", text=text)
            return
        prev = event.hash
    now = Tenant.objects.get(pk=tenant.pk)
    if (place, prev) != (now.seq, now.head) and now.seq == tenant.seq:
        text = f"Tenant {tenant.slug} names event {now.seq} as its last one; it is {place}."
        yield Violation(invariant="R37", run="", text=text)


def told_under(run_id: UUID, name: str) -> Iterator[dict[str, Any]]:
    """What the run's chain tells wherever it says `name`; an erased body says nothing (R37)."""
    rows = AuditEvent.objects.filter(run_id=run_id, body__contains=f'"{name}":').order_by("seq")
    for body in rows.values_list("body", flat=True):
        told = read(body)
        if isinstance(told, dict) and name in told:
            yield told
