"""A page of the list of runs: each with where it is, why, and how often it was tried."""

import json
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Exists, F, OuterRef, Q, QuerySet, Value
from django.db.models.fields.json import KeyTextTransform
from django.db.models.lookups import Exact

from runs.models import Assignment, Call, Run, Step, Wait
from runs.queries.keyset import Position, Slice, count_up_to, slice_of
from runs.queries.plans import plan_by_hash
from runs.queries.visibility import visible_runs
from runs.queries.why import Rows, crew, why_from
from runs.rules.hours import HOUR
from runs.rules.labels import NAME
from runs.rules.policy import Actor
from runs.rules.states import OPEN, AssignmentState, RunState, WaitKind, WaitState
from runs.rules.why import Why

PAGE = 50
BY = "by:"
STUCK = (RunState.FAILED, RunState.PAUSED, RunState.WAITING)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which runs a reader wants to see; empty means all of that kind."""

    state: str = ""
    workflow: str = ""
    waits_for: str = ""
    within: timedelta | None = None
    hour: datetime | None = None
    text: str = ""
    longest_waiting: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the list, finished: the template only places it."""

    run: Run
    why: Why
    waits_for: str
    attempts: str
    duration: timedelta | None


class LabelTransform(KeyTextTransform):
    """What a label says; Django takes a name of digits only for the index of an array."""

    def as_postgresql(self, compiler: Any, connection: Any) -> tuple[str, tuple[Any, ...]]:
        labels, params, (name,) = self.preprocess_lhs(compiler, connection)
        return f"({labels} ->> %s)", (*params, name)

    def as_sqlite(self, compiler: Any, connection: Any, **_: Any) -> tuple[str, tuple[Any, ...]]:
        labels, params, (name,) = self.preprocess_lhs(compiler, connection)
        return f"JSON_EXTRACT({labels}, %s)", (*params, f"$.{json.dumps(name)}")


def wanted_runs(actor: Actor, wanted: Wanted, *, now: datetime) -> QuerySet[Run]:
    runs = visible_runs(actor).select_related("worker")
    if wanted.state:
        runs = runs.filter(_standing(wanted.state))
    if wanted.workflow:
        runs = runs.filter(workflow=wanted.workflow)
    if wanted.waits_for or wanted.longest_waiting:
        runs = _waiting(runs, wanted)
    if wanted.within:
        runs = runs.filter(created_at__gte=now - wanted.within)
    if wanted.hour:
        runs = runs.filter(created_at__gte=wanted.hour, created_at__lt=wanted.hour + HOUR)
    return runs.filter(_named(wanted.text)) if wanted.text else runs


def _standing(state: str) -> Q:
    """One state, all that are not final, or those that only a person can make go on."""
    if state == "open":
        return Q(state__in=sorted(each.value for each in OPEN))
    if state != "stuck":
        return Q(state=state)
    asked = Wait.objects.filter(
        run=OuterRef("pk"), state=WaitState.OPEN.value, kind=WaitKind.DECISION.value
    )
    # The states first and alone: an index finds those few runs among all that have ended.
    stopped = Q(state__in=[each.value for each in STUCK])
    return stopped & (~Q(state=RunState.WAITING.value) | Q(Exists(asked)))


def _waiting(runs: QuerySet[Run], wanted: Wanted) -> QuerySet[Run]:
    """Those with an open wait, and since when; it is one at most, so no run comes twice."""
    kind = {"waits__kind": wanted.waits_for} if wanted.waits_for else {}
    runs = runs.filter(waits__state=WaitState.OPEN.value, **kind)
    if not wanted.longest_waiting:
        return runs
    return runs.filter(state=RunState.WAITING.value).annotate(waits_since=F("waits__opened_at"))


def _named(text: str) -> Q:
    """What a run is called, a key it has used, `by:NAME` who started it, `NAME=VALUE` its label."""
    if text.startswith(BY):
        return Q(started_by=text.removeprefix(BY).strip())
    label, labelled, value = text.partition("=")
    if labelled and NAME.fullmatch(label):
        return Q(Exact(LabelTransform(label, "labels"), Value(value)))
    named = Q(reference__startswith=text)
    named |= Q(pk__in=Call.objects.filter(key=text).values("run_id"))
    try:
        return named | Q(pk=UUID(text))
    except ValueError:
        return named


def page_of(
    runs: QuerySet[Run], wanted: Wanted, *, position: Position | None, size: int = PAGE
) -> Slice[Run]:
    """The last started first, or whoever waits longest: each order has an index that serves it."""
    by = "waits_since" if wanted.longest_waiting else "created_at"
    return slice_of(
        runs, by=by, position=position, size=size, descending=not wanted.longest_waiting
    )


def count_of(runs: QuerySet[Run]) -> int:
    return count_up_to(runs)


def seen_again(actor: Actor, run_ids: Sequence[UUID]) -> list[Run]:
    """The same runs once more, in the order in which a reader has them before their eyes."""
    found = visible_runs(actor).select_related("worker").in_bulk(list(run_ids))
    return [found[run_id] for run_id in run_ids if run_id in found]


def newer_than(runs: QuerySet[Run], first: Run | None, *, cap: int = 99) -> int:
    """How many runs of this kind were started after the first one that is shown."""
    if first is None:
        return count_up_to(runs, cap=cap)
    later = Q(created_at__gt=first.created_at) | Q(created_at=first.created_at, pk__gt=first.pk)
    return count_up_to(runs.filter(later), cap=cap)


def version_of(runs: Iterable[Run]) -> str:
    """Changes whenever one of these runs does: `seq` counts every recorded fact of a run."""
    return f"{zlib.crc32(','.join(f'{run.pk}:{run.seq}' for run in runs).encode()):x}"


def rows_of(runs: Sequence[Run], *, now: datetime) -> list[Row]:
    """Four queries at most, for any number of runs."""
    shown = [run.pk for run in runs]
    steps = {
        (step.run_id, step.key): step
        for step in Step.objects.filter(run_id__in=shown, superseded=False).only(
            "run", "key", "failures", "error", "started_at", "cursor_ordinal",
            "progress_done", "progress_total",
        )
    }  # fmt: skip
    waits = {w.run_id: w for w in Wait.objects.filter(run_id__in=shown, state=WaitState.OPEN.value)}
    placed = {
        assignment.run_id: assignment
        for assignment in Assignment.objects.filter(
            run_id__in=[run.pk for run in runs if run.state == RunState.QUEUED],
            state=AssignmentState.PLACED.value,
        )
    }
    alive = crew() if placed else {"workers_alive": 0}
    return [
        _row(
            Rows(
                run=run,
                step=steps.get((run.pk, run.step)),
                wait=waits.get(run.pk),
                assignment=placed.get(run.pk),
                **alive,
            ),
            now=now,
        )
        for run in runs
    ]


def _row(rows: Rows, *, now: datetime) -> Row:
    run = rows.run
    return Row(
        run=run,
        why=why_from(rows),
        waits_for=rows.wait.kind if rows.wait and run.state == RunState.WAITING else "",
        attempts=_attempts(rows),
        duration=(run.ended_at or now) - run.started_at if run.started_at else None,
    )


def _attempts(rows: Rows) -> str:
    """Failed attempts of those that the plan allows; empty while nothing has failed."""
    step = rows.step
    if step is None or not step.failures:
        return ""
    allowed = plan_by_hash(rows.run.plan_id).step(step.key).retry.attempts
    return f"{step.failures}/{allowed}"
