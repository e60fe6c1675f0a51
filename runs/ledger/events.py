"""Events from outside: taken in once, kept until used, never missed by a wait (R14)."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from django.db import connection
from django.db.models import F, Q

from runs.ledger import audit, transitions
from runs.models import Event, Run, Wait
from runs.queries.clock import db_now
from runs.rules import canonical
from runs.rules.chain import Draft
from runs.rules.states import FINAL, WaitKind, WaitState

# A wait that opens and an event that arrives must not pass each other unseen.
MEET = "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))"


def meet(tenant_id: int, name: str, correlation_id: str) -> None:
    """Hold the place where this event and its wait meet, until the transaction ends."""
    # On SQLite the IMMEDIATE transaction already excludes everybody else.
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(MEET, [f"{tenant_id}|{name}|{correlation_id}"])


def keep(
    *,
    tenant_id: int,
    name: str,
    correlation_id: str,
    message_id: str,
    payload: Mapping[str, Any],
    source: str,
) -> tuple[Event, Literal["new", "duplicate", "conflict"]]:
    """Store an event, or find that its message id came before: with the same content, or another."""
    text, now = canonical.dumps(dict(payload)), db_now()
    digest = canonical.digest(text)
    event, new = Event.objects.get_or_create(
        tenant_id=tenant_id,
        name=name,
        message_id=message_id,
        defaults={
            "correlation_id": correlation_id,
            "payload": text,
            "payload_digest": digest,
            "source": source,
            "received_at": now,
        },
    )
    if new:
        return event, "new"
    if (event.correlation_id, event.payload_digest) == (correlation_id, digest):
        Event.objects.filter(pk=event.pk).update(repeats=F("repeats") + 1, repeated_at=now)
        return event, "duplicate"
    Event.objects.filter(pk=event.pk).update(conflicts=F("conflicts") + 1, repeated_at=now)
    _tell_of_conflict(event, correlation_id=correlation_id, digest=digest, source=source, now=now)
    return event, "conflict"


def _tell_of_conflict(
    event: Event, *, correlation_id: str, digest: str, source: str, now: datetime
) -> None:
    body = {
        "event": event.name,
        "message_id": event.message_id,
        "kept": {"correlation_id": event.correlation_id, "digest": event.payload_digest},
        "refused": {"correlation_id": correlation_id, "digest": digest},
    }
    told = Draft(kind="event.conflict", body=canonical.dumps(body))
    audit.append_to_tenant(event.tenant_id, [told], now=now, actor=source or "event")


def is_late(event: Event) -> bool:
    """Whether whoever waited for it has gone without it; then both say so.

    It stays kept: a run that is resumed or redone opens its wait again, and finds it there.
    """
    ended = Wait.objects.filter(
        run__tenant_id=event.tenant_id,
        kind=WaitKind.EVENT.value,
        state__in=[WaitState.EXPIRED.value, WaitState.WITHDRAWN.value],
        event_name=event.name,
        correlation_id=event.correlation_id,
    )
    wait = ended.order_by("-closed_at", "-id").first()
    if wait is None:
        return False
    now = db_now()
    Event.objects.filter(pk=event.pk).update(late_for=wait)
    _tell_of_late(event, wait, now=now)
    return True


def _tell_of_late(event: Event, wait: Wait, *, now: datetime) -> None:
    body = {
        "event": event.name,
        "message_id": event.message_id,
        "wait": wait.name,
        "wait_state": wait.state,
        "closed_at": wait.closed_at.isoformat() if wait.closed_at else None,
    }
    actor, run = event.source or "event", transitions.lock(wait.run_id)
    if run.state in FINAL:
        told = Draft(kind="event.late", body=canonical.dumps({"run": str(run.pk), **body}))
        audit.append_to_tenant(event.tenant_id, [told], now=now, actor=actor)
        return
    told = Draft(kind="event.late", step=wait.step, body=canonical.dumps(body))
    transitions.note(run, events=[told], now=now, actor=actor)


def kept_for(run: Run, wait: Wait) -> Event | None:
    """The oldest unused event that this wait would take.

    What a superseded generation of the same step has used comes first: it is not sent again.
    """
    if wait.kind != WaitKind.EVENT:
        return None
    fitting = Event.objects.select_for_update(no_key=True, of=("self",)).filter(
        tenant_id=run.tenant_id, name=wait.event_name, correlation_id=wait.correlation_id
    )
    if wait.generation > 1 and (event := fitting.filter(_used_before(run, wait)).first()):
        return event
    return fitting.filter(used_by=None).order_by("id").first()


def _used_before(run: Run, wait: Wait) -> Q:
    return Q(
        used_by__run=run,
        used_by__step=wait.step,
        used_by__name=wait.name,
        used_by__generation__lt=wait.generation,
    )


def waiting_for(event: Event) -> list[int]:
    """The open waits that this event would wake, the oldest first."""
    return list(
        Wait.objects.filter(
            run__tenant_id=event.tenant_id,
            kind=WaitKind.EVENT.value,
            state=WaitState.OPEN.value,
            event_name=event.name,
            correlation_id=event.correlation_id,
        )
        .order_by("opened_at", "id")
        .values_list("pk", flat=True)
    )


def mark_used(run: Run, wait: Wait, event: Event, *, now: datetime, fence: int) -> None:
    """The event belongs to this wait, unless a replay asks for it once more."""
    Event.objects.filter(pk=event.pk).filter(Q(used_by=None) | _used_before(run, wait)).update(
        used_by=wait, used_at=now
    )
    body = {"event": event.name, "message_id": event.message_id, "wait": wait.name}
    used = Draft(kind="event.used", step=wait.step, body=canonical.dumps(body))
    transitions.note(run, events=[used], now=now, actor=event.source or "event", fence=fence)
