"""Waking a parked run: a person answers, an event comes, a time is over."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal, cast

from django.db import transaction

from runs.definition import gates
from runs.ledger import events
from runs.ledger.commits import commits
from runs.ledger.consequences import Way, carry_out
from runs.ledger.waits import WaitClosed, close, lock_open, use_event
from runs.models import Event, Run, Wait
from runs.queries.clock import db_now
from runs.rules import canonical
from runs.rules.asks import Then
from runs.rules.chain import Draft
from runs.rules.limits import Breach, Cause, Limit
from runs.rules.states import TAKES_EFFECT, RunState, WaitKind, WaitState

CLOCK = "the clock"
Taken = Literal["used", "kept", "late", "duplicate", "conflict"]


def answer(
    wait_id: int,
    *,
    answer: Mapping[str, Any],
    by: str,
    then: Then = "resume",
    because: str = "",
    facts: Mapping[str, Any] | None = None,
) -> None:
    """Close an open wait with its one answer and move its run; the caller owns the transaction.

    `facts` go into the audit event beside what every closed wait says.
    Raises WaitClosed when somebody or something was first (I13).
    """
    run, wait = lock_open(wait_id)
    now = db_now()
    close(run, wait, to=WaitState.RESOLVED, answer=canonical.dumps(dict(answer)), by=by, now=now)
    said = because or f"answered by {by}"
    way = Way(then=then, by=by, because=said, wait=wait, fields=answer.get("fields") or {})
    carry_out(run, way, closed=[_told(wait, by=by, facts=facts)], now=now)


@commits("timer_fired", when=bool)
def expire(wait_id: int) -> bool:
    """Let the clock close a wait that is over, in its declared way; False when it was late.

    While its run is paused, the clock of a wait stands.
    """
    with transaction.atomic():
        try:
            run, wait = lock_open(wait_id)
        except WaitClosed:
            return False
        now = db_now()
        if wait.due_at is None or wait.due_at > now or wait.on_due == "stay":
            return False
        if run.state == RunState.PAUSED:
            return False
        if wait.on_due == TAKES_EFFECT:
            return _take_effect(run, wait, now=now)
        # Silence answers no decision, whatever its row says (I13).
        resolved = wait.on_due == "resume" and wait.kind != WaitKind.DECISION
        close(
            run,
            wait,
            to=WaitState.RESOLVED if resolved else WaitState.EXPIRED,
            answer=canonical.dumps({"due": True}) if resolved else None,
            by=CLOCK,
            now=now,
        )
        if not resolved:
            gates.gate_for(wait.kind).expire(wait.pk)
        then: Then = "resume" if resolved else ("cancel" if wait.on_due == "cancel" else "fail")
        closed = [_told(wait, by=CLOCK)]
        if not resolved:
            ends = RunState.CANCELLED if then == "cancel" else RunState.FAILED
            closed.insert(0, _breach(wait, now=now).event(step=wait.step, then=ends.value))
        way = Way(then=then, by=CLOCK, because=_overdue(wait), wait=wait)
        carry_out(run, way, closed=closed, now=now)
    return True


def _take_effect(run: Run, wait: Wait, *, now: datetime) -> bool:
    """What was answered before has come to its time; its gate says what it is by now."""
    due = gates.gate_for(wait.kind).answer_when_due(wait.pk)
    if due is None:
        return False
    text = canonical.dumps(dict(due.answer))
    close(run, wait, to=WaitState.RESOLVED, answer=text, by=due.by, now=now)
    fields = due.answer.get("fields") or {}
    then = cast("Then", due.then)
    way = Way(then=then, by=due.by, because=due.because, wait=wait, fields=fields)
    carry_out(run, way, closed=[_told(wait, by=due.by, facts=due.facts)], now=now)
    return True


def _breach(wait: Wait, *, now: datetime) -> Breach:
    by_person = wait.kind == WaitKind.DECISION
    return Breach(
        limit=Limit.WAIT,
        trigger=_named(wait),
        elapsed=(now - wait.opened_at).total_seconds(),
        allowed=((wait.due_at or now) - wait.opened_at).total_seconds(),
        cause=Cause.PERSON if by_person else Cause.DEPENDENCY,
    )


def _overdue(wait: Wait) -> str:
    if wait.on_due == "resume":
        return f"{_named(wait)} is due"
    return f"{_named(wait)} expired without an answer"


def _named(wait: Wait) -> str:
    """The wait as people read it: most names begin with the kind already."""
    return wait.name if wait.name.startswith(f"{wait.kind} ") else f"{wait.kind} {wait.name}"


def _told(wait: Wait, *, by: str, facts: Mapping[str, Any] | None = None) -> Draft:
    body = {"wait": wait.name, "kind": wait.kind, "state": wait.state, "by": by, **(facts or {})}
    return Draft(kind="wait.closed", step=wait.step, body=canonical.dumps(body))


@commits("event_committed")
def deliver_event(
    *,
    tenant_id: int,
    name: str,
    correlation_id: str,
    message_id: str,
    payload: Mapping[str, Any],
    source: str,
) -> Taken:
    """Take an event in: wake the run that waits for it, or keep it until one does (R14).

    `late` is kept too, and says that whoever waited for it has gone; `conflict` changes nothing.
    """
    with transaction.atomic():
        events.meet(tenant_id, name, correlation_id)
        event, known = events.keep(
            tenant_id=tenant_id,
            name=name,
            correlation_id=correlation_id,
            message_id=message_id,
            payload=payload,
            source=source,
        )
        if known != "new":
            return known
        if any(_wake_by_event(wait_id, event) for wait_id in events.waiting_for(event)):
            return "used"
        return "late" if events.is_late(event) else "kept"


@commits("event_matched", when=bool)
def match_event(wait_id: int) -> bool:
    """Give an open wait the event that was kept for it, if there is one; watch asks again."""
    with transaction.atomic():
        seen = Wait.objects.select_related("run").get(pk=wait_id)
        events.meet(seen.run.tenant_id, seen.event_name, seen.correlation_id)
        event = events.kept_for(seen.run, seen)
        return event is not None and _wake_by_event(wait_id, event)


def _wake_by_event(wait_id: int, event: Event) -> bool:
    try:
        run, wait = lock_open(wait_id)
    except WaitClosed:
        return False
    now = db_now()
    use_event(run, wait, event, now=now, fence=0)
    by = event.source or "event"
    way = Way(then="resume", by=by, because=f"event {event.name} came", wait=wait)
    carry_out(run, way, closed=[_told(wait, by=by)], now=now)
    return True
