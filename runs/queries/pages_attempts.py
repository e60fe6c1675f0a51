"""The attempts of a run's steps, read from its audit events: when, by whom, why, how it ended."""

import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from runs.models import Assignment, AuditEvent, Run
from runs.queries.why import name_of

MOST_EVENTS = 5_000
ENDS = {
    "step.attempt_failed": "failed",
    "step.failed": "failed",
    "run.failed": "failed",
    "run.parked": "waiting",
    "run.taken_over": "lost",
    "run.handed_back": "handed back",
    "run.paused": "paused",
    "run.cancelled": "cancelled",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One entering of a step's body. `ended_at` is empty while it goes on."""

    step: str
    number: int
    fence: int
    started_at: datetime
    ended_at: datetime | None
    outcome: str
    error: str = ""
    reason: str = ""
    worker: str = ""
    waited: timedelta | None = None

    @property
    def took(self) -> timedelta | None:
        return self.ended_at - self.started_at if self.ended_at else None


def attempts_of(run: Run, *, assignments: Iterable[Assignment]) -> list[Attempt]:
    """Every attempt of every step, in order; one query beside the assignments given."""
    events = list(
        AuditEvent.objects.filter(run=run)
        .exclude(kind__startswith="call.")
        .exclude(kind__in=["audit.line", "step.page"])
        .order_by("seq")
        .only("kind", "step", "fence", "at", "body")[:MOST_EVENTS]
    )
    return _read(events, {one.fence: one for one in assignments if one.fence is not None})


def _read(events: Iterable[AuditEvent], assignments: dict[int, Assignment]) -> list[Attempt]:
    found: list[Attempt] = []
    begun: AuditEvent | None = None
    for event in events:
        if begun is not None and (ended := _ends(begun, event)):
            found.append(_attempt(begun, event, ended, assignments))
            begun = None
        if event.kind == "step.started":
            begun = event
    if begun is not None:
        found.append(_attempt(begun, None, "running", assignments))
    return _with_reasons(found, assignments)


def _ends(begun: AuditEvent, event: AuditEvent) -> str:
    """How this event ends that attempt, if it does."""
    if event.kind in ENDS:
        return ENDS[event.kind]
    if event.step == begun.step and event.kind in ("step.succeeded", "step.finished"):
        return "succeeded"
    return ""


def _attempt(
    begun: AuditEvent, end: AuditEvent | None, outcome: str, assignments: dict[int, Assignment]
) -> Attempt:
    assignment = assignments.get(begun.fence)
    said = _body(end) if end else {}
    return Attempt(
        step=begun.step,
        number=int(_body(begun).get("attempt", 1)),
        fence=begun.fence,
        started_at=begun.at,
        ended_at=end.at if end else None,
        outcome=outcome,
        error=str(said.get("error") or said.get("reason") or said.get("because") or ""),
        worker=name_of(assignment.worker) if assignment else "",
    )


def _with_reasons(found: list[Attempt], assignments: dict[int, Assignment]) -> list[Attempt]:
    """The first attempt under an assignment began for the assignment's reason, and after its wait."""
    seen: set[int] = set()
    told: list[Attempt] = []
    for one in found:
        assignment = assignments.get(one.fence)
        first = one.fence not in seen
        seen.add(one.fence)
        reason, waited = "the step before was done", None
        if first and assignment is not None:
            reason = assignment.reason
            waited = one.started_at - assignment.placed_at
        told.append(replace(one, reason=reason, waited=waited))
    return told


def by_step(attempts: Iterable[Attempt]) -> dict[str, list[Attempt]]:
    grouped: dict[str, list[Attempt]] = defaultdict(list)
    for attempt in attempts:
        grouped[attempt.step].append(attempt)
    return grouped


def _body(event: AuditEvent) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(event.body)
    return body
