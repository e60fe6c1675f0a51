"""What the clockwork and its pages ask about schedules: which are due, and how the run before stands."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

from django.db.models import QuerySet

from runs.models import Call, Firing, Run, Schedule, Wait
from runs.queries.clock import db_now
from runs.queries.lineage import is_unborn, standing_for, waiting_restart
from runs.queries.visibility import visible_to
from runs.rules import canonical
from runs.rules.overlap import HELD, Standing
from runs.rules.policy import Actor
from runs.rules.schedules import FiringState, Timing, Wish
from runs.rules.states import FINAL, UNSETTLED_CALLS, RunState, WaitState, WorkerState
from runs.rules.wall_clock import DstPolicy

# Runs that were started long ago and stand open are seen too, but not without end.
LOOKED_BACK = 50
OVER = frozenset({state.value for state in FINAL} | {RunState.FAILED.value})


@dataclass(frozen=True, slots=True, kw_only=True)
class Before:
    """The newest run of a schedule that is not over, and how it stands."""

    run: Run | None
    standing: Standing
    waits_for: str = ""

    @property
    def named(self) -> str:
        return self.run.reference if self.run else ""

    @property
    def in_doubt(self) -> bool:
        """Nobody holds it, and nobody knows what became of a call of it (R5)."""
        if self.run is None or self.standing in HELD:
            return False
        states = [state.value for state in UNSETTLED_CALLS]
        return Call.objects.filter(run=self.run, state__in=states, unsent=False).exists()


def visible_schedules(actor: Actor) -> QuerySet[Schedule]:
    """Those that were not removed, of the actor's tenants."""
    return visible_to(actor, Schedule.objects.filter(removed_at=None)).select_related("tenant")


def due(*, at_most: int) -> list[int]:
    """Schedules with a time that has come, the longest overdue first."""
    rows = Schedule.objects.filter(due_at__lte=db_now(), removed_at=None)
    return list(rows.order_by("due_at", "pk").values_list("pk", flat=True)[:at_most])


def with_a_queued_firing(*, at_most: int) -> list[int]:
    """Schedules that are not paused and have a firing which waits for the run before."""
    rows = Firing.objects.filter(
        state=FiringState.QUEUED.value, schedule__enabled=True, schedule__removed_at=None
    )
    return list(rows.order_by("nominal_at").values_list("schedule_id", flat=True)[:at_most])


def queued_firing(schedule_id: int) -> Firing | None:
    return Firing.objects.filter(schedule=schedule_id, state=FiringState.QUEUED.value).first()


def before(schedule_id: int) -> Before:
    """How the run before stands; whatever was begun in its place stands for it."""
    newest = next(_open_runs(schedule_id), None)
    return _before(newest) if newest else Before(run=None, standing=Standing.OVER)


def open_before(schedule_id: int) -> list[Before]:
    """The same of every run of a schedule that is not over, the newest first."""
    return [_before(run) for run in _open_runs(schedule_id)]


def _open_runs(schedule_id: int) -> Iterator[Run]:
    firings = Firing.objects.filter(schedule=schedule_id, run__isnull=False)
    recent = firings.select_related("run__worker").order_by("-nominal_at")[:LOOKED_BACK]
    seen = set()
    for firing in recent:
        run = standing_for(firing.run) if firing.run else None
        if run is not None and run.state not in OVER and run.pk not in seen:
            seen.add(run.pk)
            yield run


def _before(run: Run) -> Before:
    if is_unborn(run) or waiting_restart(run.pk) is not None:
        return Before(run=run, standing=Standing.READY)
    if run.state == RunState.RUNNING:
        worker = run.worker
        gone = worker is None or worker.state != WorkerState.LIVE or worker.lease_until < db_now()
        return Before(run=run, standing=Standing.ZOMBIE if gone else Standing.RUNNING)
    if run.state == RunState.WAITING:
        wait = Wait.objects.filter(run=run, state=WaitState.OPEN.value).first()
        return Before(run=run, standing=Standing.WAITING, waits_for=_waits_for(wait))
    return Before(run=run, standing=Standing(run.state))


def _waits_for(wait: Wait | None) -> str:
    return f"{'an' if wait.kind == 'event' else 'a'} {wait.kind}" if wait else ""


def timing_of(schedule: Schedule) -> Timing:
    return Timing(
        cron=schedule.cron,
        every=timedelta(seconds=schedule.every) if schedule.every else None,
        zone=schedule.zone,
        dst=DstPolicy(schedule.dst),
        jitter=timedelta(seconds=schedule.jitter),
        anchor=schedule.anchor,
        ends=schedule.ends_at,
    )


def wish_of(schedule: Schedule) -> Wish:
    """The schedule as somebody would ask for it now."""
    return Wish(
        slug=schedule.slug,
        name=schedule.name,
        workflow=schedule.workflow,
        version=schedule.version,
        cron=schedule.cron,
        every=schedule.every,
        zone=schedule.zone,
        dst=schedule.dst,
        overlap=schedule.overlap,
        catch_up=schedule.catch_up,
        window=schedule.window,
        jitter=schedule.jitter,
        ends=schedule.ends_at,
        data=canonical.loads(schedule.input),
        labels=schedule.labels,
    )
