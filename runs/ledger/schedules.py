"""A schedule is made, changed, paused, resumed, removed; each writes one event on its tenant's chain."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice, takewhile
from typing import Any

from django.db import transaction

from runs.definition import registry
from runs.definition.workflow import Workflow
from runs.ledger import audit, tenants
from runs.ledger.commits import commits
from runs.models import Firing, Schedule, Tenant
from runs.queries.clock import db_now
from runs.queries.schedules import timing_of, visible_schedules
from runs.rules import canonical, inputs
from runs.rules.chain import Draft
from runs.rules.plan import BrokenWorkflow, plan_of
from runs.rules.policy import Actor, Verb, require
from runs.rules.schedules import (
    FiringState,
    ScheduleRefused,
    Timing,
    Wish,
    jitter_of,
    next_times,
    refusals,
)

# More than a day of minutes; a change is one transaction, and holds up nobody for longer.
MOST_LEFT_OUT = 2000


class NoSuchSchedule(Exception):
    """There is no such schedule, or it belongs to a tenant this actor does not see."""


class ScheduleChanged(Exception):
    """The schedule was changed since it was looked at; look again before anything is done to it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Times:
    next_at: datetime | None
    due_at: datetime | None


@commits("schedule_committed")
def create(actor: Actor, wish: Wish, *, tenant: str = tenants.DEFAULT) -> Schedule:
    """Raises ScheduleRefused, NoSuchTenant, NotAllowed."""
    require(actor, Verb.OPERATE)
    with transaction.atomic():
        owner = tenants.owner(actor, tenant, to="schedule")
        now = db_now()
        fields = _fields(wish, now=now)
        Tenant.objects.select_for_update(no_key=True).get(pk=owner.pk)
        if Schedule.objects.filter(tenant=owner, slug=wish.slug, removed_at=None).exists():
            raise ScheduleRefused({"slug": f"There is a schedule {wish.slug!r} already."})
        schedule = Schedule.objects.create(
            tenant=owner,
            slug=wish.slug,
            anchor=now,
            created_by=actor.name,
            created_at=now,
            updated_at=now,
            **fields,
        )
        times = _next(schedule, timing_of(schedule), after=now)
        Schedule.objects.filter(pk=schedule.pk).update(next_at=times.next_at, due_at=times.due_at)
        _tell(schedule, "created", told=_told(wish), by=actor, now=now)
    schedule.next_at, schedule.due_at = times.next_at, times.due_at
    return schedule


@commits("schedule_committed")
def change(actor: Actor, schedule_id: int, wish: Wish, *, seen: int | None = None) -> Schedule:
    """Another wish under the same name; the next time is found anew where its timing changed.

    Raises ScheduleRefused, NoSuchSchedule, ScheduleChanged, NotAllowed.
    """
    with transaction.atomic():
        schedule, now = held(actor, schedule_id, seen=seen), db_now()
        fields, was = _fields(wish, now=now), timing_of(schedule)
        for name, value in fields.items():
            setattr(schedule, name, value)
        if timing_of(schedule) != was:
            _leave_out(schedule, was, now=now)
            times = _next(schedule, timing_of(schedule), after=now)
            schedule.next_at, schedule.due_at = times.next_at, times.due_at
        schedule.revision, schedule.updated_at = schedule.revision + 1, now
        schedule.save()
        _tell(schedule, "changed", told=_told(wish), by=actor, now=now)
    return schedule


def _leave_out(schedule: Schedule, was: Timing, *, now: datetime) -> None:
    """Times that have come and were not looked at yet are not forgotten with their timing."""
    if schedule.next_at is None or schedule.next_at > now:
        return
    times = next_times(was, after=schedule.next_at - timedelta(seconds=1))
    passed = takewhile(lambda due: due.at <= now, times)
    Firing.objects.bulk_create(
        Firing(
            tenant_id=schedule.tenant_id,
            schedule=schedule,
            nominal_at=due.at,
            state=FiringState.SKIPPED.value,
            reason="the schedule was changed before this time was looked at",
            decided_at=now,
        )
        for due in islice(passed, MOST_LEFT_OUT)
    )


@commits("schedule_committed")
def pause(actor: Actor, schedule_id: int, *, because: str, seen: int | None = None) -> Schedule:
    """Its times still come, and each is skipped with this reason."""
    with transaction.atomic():
        schedule, now = held(actor, schedule_id, seen=seen), db_now()
        if schedule.enabled:
            schedule.enabled, schedule.paused_note, schedule.paused_at = False, because, now
            _save(schedule, "paused", told={"because": because}, by=actor, now=now)
    return schedule


@commits("schedule_committed")
def resume(actor: Actor, schedule_id: int, *, seen: int | None = None) -> Schedule:
    """What came while it was paused stays skipped."""
    with transaction.atomic():
        schedule, now = held(actor, schedule_id, seen=seen), db_now()
        if not schedule.enabled:
            schedule.enabled, schedule.resumed_at, schedule.skips = True, now, 0
            _save(schedule, "resumed", told={}, by=actor, now=now)
    return schedule


@commits("schedule_committed")
def remove(actor: Actor, schedule_id: int, *, because: str, seen: int | None = None) -> Schedule:
    """It is never due again; its firings stay, so that no time is ever fired twice (I14)."""
    with transaction.atomic():
        schedule, now = held(actor, schedule_id, seen=seen), db_now()
        Firing.objects.filter(schedule=schedule, state=FiringState.QUEUED.value).update(
            state=FiringState.SKIPPED.value, reason="the schedule was removed while it was queued"
        )
        schedule.enabled, schedule.removed_at = False, now
        schedule.next_at = schedule.due_at = None
        _save(schedule, "removed", told={"because": because}, by=actor, now=now)
    return schedule


def held(actor: Actor, schedule_id: int, *, seen: int | None = None) -> Schedule:
    """A schedule that this actor may operate, locked, as it was seen."""
    require(actor, Verb.OPERATE)
    rows = visible_schedules(actor).select_for_update(no_key=True, of=("self",))
    schedule = rows.filter(pk=schedule_id).first()
    if schedule is None:
        raise NoSuchSchedule("There is no such schedule.")
    if seen is not None and seen != schedule.revision:
        raise ScheduleChanged(
            f"Schedule {schedule.slug} changed at {schedule.updated_at:%Y-%m-%d %H:%M:%S} UTC, "
            "after you looked. Nothing was done."
        )
    return schedule


def _save(
    schedule: Schedule, verb: str, *, told: Mapping[str, Any], by: Actor, now: datetime
) -> None:
    schedule.revision, schedule.updated_at = schedule.revision + 1, now
    schedule.save()
    _tell(schedule, verb, told=told, by=by, now=now)


def _fields(wish: Wish, *, now: datetime) -> dict[str, Any]:
    """The columns of a wish that nothing is refused of."""
    workflow, errors = _workflow(wish)
    heartbeat = workflow.heartbeat if workflow else None
    errors = refusals(wish, heartbeat=heartbeat, now=now, known=workflow is not None) | errors
    text = _input(workflow, wish, errors) if workflow else "{}"
    if errors:
        raise ScheduleRefused(errors)
    return {
        "name": wish.name,
        "workflow": wish.workflow,
        "version": wish.version,
        "cron": wish.cron,
        "every": wish.every or None,
        "zone": wish.zone,
        "dst": wish.dst,
        "overlap": wish.overlap,
        "catch_up": wish.catch_up,
        "window": wish.window,
        "jitter": wish.jitter,
        "ends_at": wish.ends,
        "input": text,
        "labels": dict(wish.labels),
    }


def workflow_of(name: str, version: int | None) -> type[Workflow]:
    """The version that a schedule names, else the latest; raises UnknownWorkflow."""
    return registry.chosen(name, version)


def _workflow(wish: Wish) -> tuple[type[Workflow] | None, dict[str, str]]:
    try:
        workflow = workflow_of(wish.workflow, wish.version)
        plan_of(workflow)
    except registry.UnknownWorkflow as unknown:
        return None, {"workflow": str(unknown)}
    except BrokenWorkflow as broken:
        return None, {"workflow": str(broken)}
    return workflow, {}


def _input(workflow: type[Workflow], wish: Wish, errors: dict[str, str]) -> str:
    try:
        return canonical.dumps(inputs.validated(workflow, dict(wish.data)))
    except inputs.InvalidInput as invalid:
        errors |= {f"input.{name}": error for name, error in invalid.errors.items()}
    except canonical.NotCanonical as unusable:
        errors["input"] = str(unusable)
    return "{}"


def _next(schedule: Schedule, timing: Timing, *, after: datetime) -> _Times:
    due = next(next_times(timing, after=after), None)
    if due is None:
        return _Times(next_at=None, due_at=None)
    most = timedelta(seconds=schedule.jitter)
    return _Times(next_at=due.at, due_at=due.at + jitter_of(schedule.pk, due.at, most=most))


def _told(wish: Wish) -> dict[str, Any]:
    when = {"cron": wish.cron} if wish.cron else {"every": wish.every}
    return {
        **when,
        "workflow": wish.workflow,
        "zone": wish.zone,
        "dst": wish.dst,
        "overlap": wish.overlap,
        "catch_up": wish.catch_up,
        "ends": wish.ends.isoformat() if wish.ends else None,
    }


def _tell(
    schedule: Schedule, verb: str, *, told: Mapping[str, Any], by: Actor, now: datetime
) -> None:
    body = canonical.dumps({"schedule": schedule.slug, **told})
    event = Draft(kind=f"schedule.{verb}", body=body)
    audit.append_to_tenant(schedule.tenant_id, [event], now=now, actor=by.name)
