"""What a drill looks at on its scratch database: how runs stand, what they wait for, what became of them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import F, Sum

from runs.models import Assignment, Call, Checkpoint, Run, Step, Tenant, Wait, Worker
from runs.queries.memberships import DEFAULT
from runs.rules import canonical
from runs.rules.states import AssignmentState, CallState, WaitState, WorkerState


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Where a run is now."""

    id: UUID
    state: str
    step: str
    seq: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenWait:
    """What a parked run waits for."""

    id: int
    run_id: UUID
    tenant_id: int
    kind: str
    name: str
    step: str
    event_name: str
    correlation_id: str
    due_at: datetime | None
    ask: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One assignment that was claimed: when, from which step, and why it was placed."""

    id: int
    run_id: UUID
    step: str
    reason: str
    fence: int
    worker: str
    claimed_at: datetime
    lost: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CallMade:
    """One call of a run, as the ledger has it."""

    key: str
    run_id: UUID
    effect: str
    resource: str
    state: str
    reused: int
    irreversible: bool
    authority: str


def standings(run_ids: Iterable[UUID]) -> dict[UUID, Standing]:
    rows = Run.objects.filter(pk__in=list(run_ids))
    return {
        row[0]: Standing(id=row[0], state=row[1], step=row[2], seq=row[3], reason=row[4])
        for row in rows.values_list("pk", "state", "step", "seq", "reason")
    }


def open_waits(run_ids: Iterable[UUID]) -> list[OpenWait]:
    rows = Wait.objects.filter(run__in=list(run_ids), state=WaitState.OPEN.value)
    return [
        OpenWait(
            id=wait.pk,
            run_id=wait.run_id,
            tenant_id=wait.run.tenant_id,
            kind=wait.kind,
            name=wait.name,
            step=wait.step,
            event_name=wait.event_name,
            correlation_id=wait.correlation_id,
            due_at=wait.due_at,
            ask=canonical.loads(wait.subject or "{}"),
        )
        for wait in rows.select_related("run")
    ]


def claims(run_ids: Iterable[UUID]) -> list[Claim]:
    """Every claim, run by run, in their order."""
    rows = Assignment.objects.filter(run__in=list(run_ids), fence__isnull=False)
    return [
        Claim(
            id=row.pk,
            run_id=row.run_id,
            step=row.from_step,
            reason=row.reason,
            fence=row.fence or 0,
            worker=str(row.worker) if row.worker else "",
            claimed_at=row.claimed_at,
            lost=row.state == AssignmentState.LOST.value,
        )
        for row in rows.select_related("worker").order_by("run", "pk")
        if row.claimed_at is not None
    ]


def calls(run_ids: Iterable[UUID]) -> list[CallMade]:
    rows = Call.objects.filter(run__in=list(run_ids)).order_by("pk")
    names = ["key", "run_id", "effect", "resource", "state", "reused", "irreversible", "authority"]
    return [CallMade(**row) for row in rows.values(*names)]


def placed_or_claimed(run_ids: Iterable[UUID]) -> list[int]:
    """The open assignments: those a doorbell may be rung for once more."""
    states = [AssignmentState.PLACED.value, AssignmentState.CLAIMED.value]
    rows = Assignment.objects.filter(run__in=list(run_ids), state__in=states)
    return list(rows.values_list("pk", flat=True))


def workers_started() -> list[datetime]:
    return list(Worker.objects.order_by("started_at").values_list("started_at", flat=True))


def live_workers(*, host: str = "") -> int:
    rows = Worker.objects.filter(state=WorkerState.LIVE.value)
    return (rows.filter(host=host) if host else rows).count()


def cursors_that_went_back(run_ids: Iterable[UUID]) -> list[tuple[UUID, str]]:
    """Runs and steps in which a later checkpoint has a smaller cursor (I8)."""
    found: list[tuple[UUID, str]] = []
    last: dict[tuple[UUID, str, int], int] = {}
    rows = Checkpoint.objects.filter(run__in=list(run_ids)).order_by("run", "number")
    for run_id, step, generation, cursor in rows.values_list(
        "run_id", "step", "generation", "cursor_ordinal"
    ):
        place = (run_id, step, generation)
        if cursor < last.get(place, 0):
            found.append((run_id, step))
        last[place] = cursor
    return found


def results(run_id: UUID) -> dict[str, Any]:
    """The facts of every finished step."""
    facts: dict[str, Any] = {}
    rows = Step.objects.filter(run=run_id, superseded=False, state="succeeded")
    for text in rows.order_by("ordinal").values_list("facts", flat=True):
        facts |= canonical.loads(text)
    return facts


def crashes(run_ids: Sequence[UUID]) -> int:
    rows = Step.objects.filter(run__in=run_ids).aggregate(all=Sum(F("crashes")))
    return int(rows["all"] or 0)


def confirmed(made: Iterable[CallMade]) -> list[CallMade]:
    return [call for call in made if call.state == CallState.CONFIRMED.value]


def default_tenant() -> int:
    found: int = Tenant.objects.values_list("pk", flat=True).get(slug=DEFAULT)
    return found
