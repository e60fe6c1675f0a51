"""How much of its deadline a run has used, and which limits it has come up against."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from runs.models import Assignment, AuditEvent, Plan, Run, Wait
from runs.queries.clock import db_now
from runs.queries.plans import plan_by_hash
from runs.rules.limits import BREACHED, Deadline, Span, covered, sentence_of
from runs.rules.states import RunState, WaitKind, WaitState

# From here on nothing happens until a person says so; what goes on places an assignment.
STANDS_STILL = ("run.paused", "run.failed")
GOES_ON = ("run.resumed", "run.unpaused")
OUTSIDE = (
    WaitKind.EVENT.value,
    WaitKind.RETRY.value,
    WaitKind.CAPACITY.value,
    WaitKind.RELAY.value,
)
# While one of these is open no deadline stops a run: it asks a person, or has not begun.
HELD_UP = (WaitKind.DECISION.value, WaitKind.CAPACITY.value)
MOST_SHOWN = 5
AT_ONCE = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Breached:
    """One breach, as the run's page and `runs why` tell of it."""

    seq: int
    at: datetime
    step: str
    sentence: str
    body: dict[str, Any]


def breaches_of(run_id: UUID) -> list[Breached]:
    """The newest few, the oldest of them first."""
    rows = AuditEvent.objects.filter(run_id=run_id, kind=BREACHED).order_by("-seq")
    return [_breached(row) for row in reversed(rows[:MOST_SHOWN])]


def _breached(event: AuditEvent) -> Breached:
    body = json.loads(event.body) if event.body else {}
    told = sentence_of(body) if body else "Its record has been erased."
    return Breached(seq=event.seq, at=event.at, step=event.step, sentence=told, body=body)


def deadline_of(run_id: UUID) -> Deadline | None:
    """How this run stands to its deadline; None when it has none."""
    return deadline_of_run(Run.objects.get(pk=run_id))


def deadline_of_run(run: Run) -> Deadline | None:
    """The same of a row that has just been read."""
    allowed = allowed_for(run)
    return None if allowed is None else _standing(run, allowed, now=db_now())


def allowed_for(run: Run) -> timedelta | None:
    """The deadline its plan declares, or the other one that somebody gave it."""
    seconds = run.deadline if run.deadline is not None else plan_by_hash(run.plan_id).deadline
    return None if seconds is None else timedelta(seconds=seconds)


def _standing(run: Run, allowed: timedelta, *, now: datetime) -> Deadline:
    waits = list(Wait.objects.filter(run=run))
    people = [_span(wait) for wait in waits if wait.kind == WaitKind.DECISION]
    outside = [_span(wait) for wait in waits if wait.kind in OUTSIDE]
    since = run.created_at
    used = now - since - covered([*people, *_stood_still(run)], since=since, now=now)
    return Deadline(allowed=allowed, used=used, outside=covered(outside, since=since, now=now))


def _span(wait: Wait) -> Span:
    return Span(since=wait.opened_at, until=wait.closed_at)


def _stood_still(run: Run) -> list[Span]:
    """From each pause or failure until something was placed again, or said to go on."""
    kinds = (*STANDS_STILL, *GOES_ON)
    events = AuditEvent.objects.filter(run=run, kind__in=kinds).values_list("kind", "at")
    stops = [at for kind, at in events if kind in STANDS_STILL]
    if not stops:
        return []
    placed = Assignment.objects.filter(run=run).values_list("placed_at", flat=True)
    goes_on = sorted([*placed, *(at for kind, at in events if kind in GOES_ON)])
    return [
        Span(since=stop, until=next((at for at in goes_on if at > stop), None)) for stop in stops
    ]


def may_be_over(*, besides: Sequence[UUID] = ()) -> list[UUID]:
    """Runs in nobody's hands that are older than their plan's deadline, the oldest first.

    A worker looks to the deadline of the run it holds by itself, and while a person is waited
    for no time is used. Whether a deadline is really over `deadline_of` knows.
    """
    now, found = db_now(), list[UUID]()
    for plan_hash in Plan.objects.values_list("hash", flat=True):
        seconds = plan_by_hash(plan_hash).deadline
        if seconds is None:
            continue
        rows = Run.objects.filter(
            plan_id=plan_hash,
            state__in=[RunState.QUEUED.value, RunState.WAITING.value],
            created_at__lt=now - timedelta(seconds=seconds),
        )
        held_up = Wait.objects.filter(state=WaitState.OPEN.value, kind__in=HELD_UP)
        rows = rows.exclude(pk__in=held_up.values("run_id")).exclude(pk__in=list(besides))
        found += rows.order_by("created_at").values_list("pk", flat=True)[:AT_ONCE]
    return found
