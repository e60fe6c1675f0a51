"""Whether every wait was closed once, by what it waited for (I11, I13, R14)."""

from collections.abc import Iterator

from runs.models import Event, Wait
from runs.queries.verify_subject import AT_ONCE, Subject, is_digest_of, read
from runs.rules.states import TAKES_EFFECT, WaitKind, WaitState
from runs.rules.violations import Violation


def waits_were_closed_once(subject: Subject) -> Iterator[Violation]:
    for wait in subject.waits:
        resolved = wait.state == WaitState.RESOLVED
        if resolved != (wait.answer is not None):
            yield subject.violates("I13", f"{_named(wait)} is {wait.state}; its answer disagrees.")
        if not is_digest_of(wait.answer, wait.answer_digest):
            yield subject.violates(
                "I13", f"The answer of {_named(wait)} is not what its digest covers."
            )
        if (wait.state == WaitState.OPEN) != (wait.closed_at is None):
            yield subject.violates("I13", f"{_named(wait)} is {wait.state}; its end disagrees.")
        if wait.kind == WaitKind.DECISION:
            yield from _decided_by_somebody(subject, wait)


def _named(wait: Wait) -> str:
    return f"{wait.kind} “{wait.name}”"


def _decided_by_somebody(subject: Subject, wait: Wait) -> Iterator[Violation]:
    """Silence never approves."""
    if wait.on_due == TAKES_EFFECT and wait.due_at is None:
        yield subject.violates("I13", f"{_named(wait)} has an answer that never takes effect.")
    if wait.state != WaitState.RESOLVED:
        return
    answer = read(wait.answer or "")
    if not isinstance(answer, dict) or "option" not in answer:
        yield subject.violates("I13", f"{_named(wait)} is resolved without a chosen option.")
    if wait.closed_by in ("", "the clock"):
        yield subject.violates(
            "I13", f"{_named(wait)} was answered by {wait.closed_by or 'nobody'}."
        )


def events_were_used_once(subject: Subject) -> Iterator[Violation]:
    """An event wait is resolved by the one event that names it, and by its very payload."""
    used: dict[int, list[Event]] = {}
    for event in Event.objects.filter(used_by__run=subject.run).order_by("id"):
        used.setdefault(event.used_by_id or 0, []).append(event)
    for wait in subject.waits:
        events = used.pop(wait.pk, [])
        resolved = wait.kind == WaitKind.EVENT and wait.state == WaitState.RESOLVED
        # What a superseded wait had used, the redone step may have taken over.
        taken_over = resolved and not events and subject.is_superseded(wait)
        if len(events) != int(resolved) and not taken_over:
            yield subject.violates(
                "R14", f"{_named(wait)} is {wait.state} and used {len(events)} events."
            )
        for event in events:
            yield from _fits(subject, wait, event)


def _fits(subject: Subject, wait: Wait, event: Event) -> Iterator[Violation]:
    wanted = (subject.run.tenant_id, wait.event_name, wait.correlation_id)
    if (event.tenant_id, event.name, event.correlation_id) != wanted:
        yield subject.violates("R14", f"{_named(wait)} used an event that it did not wait for.")
    if event.payload != wait.answer:
        yield subject.violates("R14", f"{_named(wait)} was answered with another payload.")


def events_are_kept() -> Iterator[Violation]:
    """Every event, used or not, is as it came; a used one says since when."""
    rows = Event.objects.order_by("pk")
    for event in rows.iterator(chunk_size=AT_ONCE):
        if not is_digest_of(event.payload, event.payload_digest):
            text = f"The payload of event {event.name} {event.message_id} is not what its digest covers."
            yield Violation(invariant="R14", run="", text=text)
        if (event.used_by_id is None) != (event.used_at is None):
            text = (
                f"Event {event.name} {event.message_id} is used without a wait, or without a time."
            )
            yield Violation(invariant="R14", run="", text=text)
