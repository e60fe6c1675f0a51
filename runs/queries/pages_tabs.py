"""What stands under the tabs of a run's page; only the open tab is read."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, Model, OuterRef, QuerySet

from runs.models import Artifact, AuditEvent, Call, Checkpoint, Run, Step, Wait
from runs.queries.chain_lines import chain_line
from runs.queries.keyset import Position, Slice, count_up_to, slice_of
from runs.queries.plans import plan_by_hash
from runs.queries.why import question_of
from runs.rules.chain import fault_of
from runs.rules.payloads import Payload, payload_of
from runs.rules.words import of

PAGE = 50
# Events whose body has values of the run's input, and under which name.
PAYLOADS = {"run.input_corrected": "fields"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Tab:
    name: str
    label: str
    amount: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EventLine:
    event: AuditEvent
    summary: str
    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitLine:
    wait: Wait
    question: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """Whether the audit chain holds together, and the first place where it does not."""

    events: int
    first_bad: int | None
    head: str
    line: str

    @property
    def verified(self) -> bool:
        return self.first_bad is None


def tabs_of(run: Run) -> list[Tab]:
    amounts = {name: count_up_to(rows(run), cap=9_999) for name, (rows, _) in LISTS.items()}
    return [
        Tab(name="steps", label="Steps", amount=run.steps_total),
        Tab(name="events", label="Events", amount=run.seq),
        *(Tab(name=name, label=label, amount=amounts[name]) for name, (_, label) in LISTS.items()),
        Tab(name="input", label="Input"),
        Tab(name="audit", label="Audit"),
    ]


def _calls(run: Run) -> QuerySet[Any]:
    return Call.objects.filter(run=run)


def _checkpoints(run: Run) -> QuerySet[Any]:
    """`stands` where no replay has superseded the step that wrote it."""
    written_by = Step.objects.filter(
        run=OuterRef("run"),
        key=OuterRef("step"),
        generation=OuterRef("generation"),
        superseded=False,
    )
    return Checkpoint.objects.filter(run=run).annotate(stands=Exists(written_by))


def _waits(run: Run) -> QuerySet[Any]:
    return Wait.objects.filter(run=run)


def _artifacts(run: Run) -> QuerySet[Any]:
    return Artifact.objects.filter(run=run)


LISTS: dict[str, tuple[Callable[[Run], QuerySet[Any]], str]] = {
    "effects": (_calls, "Effects"),
    "checkpoints": (_checkpoints, "Checkpoints"),
    "waits": (_waits, "Waits"),
    "files": (_artifacts, "Files"),
}
ORDER = {"effects": "id", "checkpoints": "number", "waits": "id", "files": "id"}


def slice_of_tab(run: Run, name: str, *, position: Position | None) -> Slice[Model]:
    """The newest first; without payloads, which stay in their own columns until asked for."""
    rows = LISTS[name][0](run)
    if name == "effects":
        rows = rows.defer("request", "answer")
    return slice_of(rows, by=ORDER[name], position=position, size=PAGE)


def wait_lines(waits: Sequence[Any]) -> list[WaitLine]:
    return [WaitLine(wait=wait, question=question_of(wait)) for wait in waits]


def event_lines(
    run: Run, *, position: Position | None, visible: bool
) -> tuple[list[EventLine], Slice[AuditEvent]]:
    found = slice_of(AuditEvent.objects.filter(run=run), by="seq", position=position, size=PAGE)
    return [_event_line(event, visible=visible) for event in found.rows], found


def _event_line(event: AuditEvent, *, visible: bool) -> EventLine:
    body = json.loads(event.body) if event.body else {}
    if not visible and event.kind in PAYLOADS:
        body.pop(PAYLOADS[event.kind], None)
    pretty = json.dumps(body, indent=2, ensure_ascii=False)[:4096] if body else ""
    return EventLine(event=event, summary=_summary(event.kind, body), body=pretty)


def _summary(kind: str, body: dict[str, Any]) -> str:
    """What happened, from the few fields that say it; the whole body is one click away."""
    if kind == "audit.line":
        steps, calls = len(body.get("steps", [])), len(body.get("calls", []))
        return f"{body.get('state', '')}: {of(steps, 'step')}, {of(calls, 'call')}"
    wanted = (
        "because",
        "reason",
        "error",
        "wait",
        "attempt",
        "effect",
        "resource",
        "workflow",
        "worker",
    )
    said = [f"{name} {body[name]}" for name in wanted if body.get(name) not in (None, "")]
    return " · ".join(said)[:240]


def chain_of(run: Run) -> Chain:
    """Follow the chain from its start to the run's head, hashing every event anew."""
    prev, line, events, first_bad = "", "", 0, None
    for event in AuditEvent.objects.filter(run=run).order_by("seq").iterator(chunk_size=1_000):
        events += 1
        if first_bad is None and fault_of(event, prev=prev, place=events):
            first_bad = event.seq
        prev = event.hash
        if event.kind == "audit.line":
            line = event.body
    if first_bad is None and (prev != run.head or events != run.seq):
        first_bad = run.seq
    return Chain(events=events, first_bad=first_bad, head=run.head, line=line)


def chain_lines(run: Run, *, visible: bool) -> Iterator[dict[str, Any]]:
    """Every event with all that its hash covers; no body of a payload for whoever may see none."""
    for event in AuditEvent.objects.filter(run=run).order_by("seq").iterator(chunk_size=1_000):
        shown = visible or event.kind not in PAYLOADS
        yield chain_line(event, body=event.body if shown else "")


def input_of(run: Run, *, visible: bool) -> Payload:
    """What the run was given, without what its workflow says that nobody is shown."""
    hidden = plan_by_hash(run.plan_id).redact
    return payload_of(run.input, visible=visible, digest=run.input_digest, paths=hidden)
