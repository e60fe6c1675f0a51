"""A schedule's time has come: one row says what became of it, and its run is placed with it or not at all."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from uuid import UUID

from django.db import transaction

from runs.ledger import audit, beginnings
from runs.ledger.beginnings import Outcome
from runs.ledger.commits import commits
from runs.ledger.schedules import held
from runs.models import Firing, Schedule
from runs.queries import schedules
from runs.queries.clock import db_now
from runs.rules import canonical
from runs.rules.catching_up import CatchUp, Passed, why_missed
from runs.rules.chain import Draft
from runs.rules.overlap import Standing
from runs.rules.policy import Actor
from runs.rules.schedules import STREAK, FiringState, jitter_of, next_times
from runs.rules.wall_clock import Due

AT_ONCE = 200
ACTOR = "watch"


class FiredElsewhere(Exception):
    """Somebody moved this schedule's next time meanwhile; nothing was done here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fired:
    """What came of running a schedule by hand."""

    state: str
    reason: str
    run_id: UUID | None


@commits("fired", when=bool)
def fire(schedule_id: int) -> int:
    """Decide the times that have come, up to and with the first that starts a run; how many.

    The rows, the run and the next time are one transaction. Of two clockworks one takes the row,
    the other passes it by.
    """
    with transaction.atomic():
        schedule = _taken(schedule_id)
        now = db_now()
        passed = _passed(schedule, now) if schedule else []
        if schedule is None or not passed:
            return 0
        decided: list[tuple[Due, Outcome]] = []
        for due in passed[:AT_ONCE]:
            outcome = _decided(schedule, due, latest=due is passed[-1], now=now)
            decided.append((due, outcome))
            if outcome.run_id is not None:
                break
        _write(schedule, decided, now=now)
        _move_on(schedule, behind=decided[-1][0].at, decided=decided, now=now)
    return len(decided)


def _taken(schedule_id: int) -> Schedule | None:
    """Locked; None when another clockwork has it, or it is not due any more."""
    rows = Schedule.objects.select_for_update(no_key=True, skip_locked=True, of=("self",))
    due = rows.filter(pk=schedule_id, removed_at=None, due_at__lte=db_now())
    return due.select_related("tenant").first()


def _passed(schedule: Schedule, now: datetime) -> list[Due]:
    """Its times that have come, in order; one more than are decided at once, if there are so many."""
    if schedule.next_at is None:
        return []
    most = timedelta(seconds=schedule.jitter)
    found = []
    after = schedule.next_at - timedelta(seconds=1)
    for due in islice(next_times(schedules.timing_of(schedule), after=after), AT_ONCE + 1):
        if due.at + jitter_of(schedule.pk, due.at, most=most) > now:
            break
        found.append(due)
    return found


def _decided(schedule: Schedule, due: Due, *, latest: bool, now: datetime) -> Outcome:
    if not due.fires:
        return Outcome(state=FiringState.SKIPPED, reason=due.note, in_vain=False)
    if paused := _why_paused(schedule, due.at):
        return Outcome(state=FiringState.SKIPPED, reason=paused, in_vain=False)
    jitter = jitter_of(schedule.pk, due.at, most=timedelta(seconds=schedule.jitter))
    missed = why_missed(
        Passed(due_at=due.at + jitter, latest=latest),
        policy=CatchUp(schedule.catch_up),
        window=timedelta(seconds=schedule.window),
        now=now,
    )
    if missed:
        return Outcome(state=FiringState.MISSED, reason=missed, in_vain=False)
    return beginnings.begin(schedule, due.at, note=due.note, now=now)


def _why_paused(schedule: Schedule, nominal: datetime) -> str:
    """Also what came while it was paused and was not looked at before it was resumed."""
    since, until = schedule.paused_at, schedule.resumed_at
    over = until is not None and since is not None and until >= since
    then = since is not None and nominal >= since and (until is None or nominal < until)
    if schedule.enabled and not (over and then):
        return ""
    return f"the schedule was paused: {schedule.paused_note or 'no reason given'}"


def _write(schedule: Schedule, decided: Sequence[tuple[Due, Outcome]], *, now: datetime) -> None:
    Firing.objects.bulk_create(
        [_row(schedule, due.at, outcome, now=now) for due, outcome in decided]
    )
    _tell(schedule, [(due.at, outcome) for due, outcome in decided], by=ACTOR, now=now)


def _row(
    schedule: Schedule, nominal: datetime, outcome: Outcome, *, now: datetime, by_hand: bool = False
) -> Firing:
    return Firing(
        tenant_id=schedule.tenant_id,
        schedule=schedule,
        nominal_at=nominal,
        by_hand=by_hand,
        state=outcome.state.value,
        reason=outcome.reason,
        run_id=outcome.run_id,
        decided_at=now,
    )


def _move_on(
    schedule: Schedule,
    *,
    behind: datetime,
    decided: Sequence[tuple[Due, Outcome]],
    now: datetime,
) -> None:
    """The next time, if it still stands where it was seen."""
    following = next(next_times(schedules.timing_of(schedule), after=behind), None)
    next_at = following.at if following else None
    jitter = (
        jitter_of(schedule.pk, next_at, most=timedelta(seconds=schedule.jitter))
        if next_at
        else None
    )
    moved = Schedule.objects.filter(
        pk=schedule.pk, next_at=schedule.next_at, revision=schedule.revision
    ).update(
        next_at=next_at,
        due_at=next_at + jitter if next_at and jitter is not None else None,
        skips=_in_vain(schedule, [outcome for _, outcome in decided], now=now),
    )
    if not moved:
        raise FiredElsewhere(f"Schedule {schedule.slug} was moved on by somebody else.")


def _in_vain(schedule: Schedule, outcomes: Sequence[Outcome], *, now: datetime) -> int:
    """How many due times in a row came to nothing; reaching the streak is an incident."""
    skips = schedule.skips
    for outcome in outcomes:
        if outcome.run_id is not None:
            skips = 0
        elif outcome.in_vain:
            skips += 1
    if schedule.skips < STREAK <= skips:
        body = {"schedule": schedule.slug, "in_a_row": skips, "reason": outcomes[-1].reason}
        told = Draft(kind="schedule.skip_streak", body=canonical.dumps(body))
        audit.append_to_tenant(schedule.tenant_id, [told], now=now, actor=ACTOR)
    return skips


def _tell(
    schedule: Schedule, decided: Sequence[tuple[datetime, Outcome]], *, by: str, now: datetime
) -> None:
    """One event for what was decided now; each row says its own."""
    nominal, last = decided[-1]
    body = {
        "schedule": schedule.slug,
        "nominal": nominal.isoformat(),
        "times": len(decided),
        "state": last.state.value,
        "reason": last.reason,
        "run": str(last.run_id) if last.run_id else None,
    }
    fired = Draft(kind="schedule.fired", body=canonical.dumps(body))
    audit.append_to_tenant(schedule.tenant_id, [fired], now=now, actor=by)


@commits("queued_fired", when=bool)
def start_queued(schedule_id: int) -> bool:
    """Start the firing that waits, once the run before is over; False while it is not."""
    with transaction.atomic():
        rows = Schedule.objects.select_for_update(no_key=True, skip_locked=True, of=("self",))
        free = rows.filter(pk=schedule_id, enabled=True, removed_at=None)
        schedule = free.select_related("tenant").first()
        firing = schedules.queued_firing(schedule_id) if schedule else None
        if schedule is None or firing is None:
            return False
        if schedules.before(schedule_id).standing is not Standing.OVER:
            return False
        now = db_now()
        outcome = beginnings.start(
            schedule, firing.nominal_at, note=f"it was queued: {firing.reason}"
        )
        moved = Firing.objects.filter(pk=firing.pk, state=FiringState.QUEUED.value).update(
            state=outcome.state.value,
            reason=outcome.reason,
            run_id=outcome.run_id,
            decided_at=now,
        )
        if not moved:
            raise FiredElsewhere(
                f"The queued firing of {schedule.slug} was taken by somebody else."
            )
        _tell(schedule, [(firing.nominal_at, outcome)], by=ACTOR, now=now)
    return True


@commits("fired_by_hand")
def run_now(actor: Actor, schedule_id: int, *, seen: int | None = None) -> Fired:
    """Once more, now; its overlap policy holds, and its next time stays where it is.

    Raises NoSuchSchedule, ScheduleChanged, NotAllowed.
    """
    with transaction.atomic():
        schedule, now = held(actor, schedule_id, seen=seen), db_now()
        outcome = beginnings.begin(schedule, now, note=f"run by {actor.name}", now=now)
        _row(schedule, now, outcome, now=now, by_hand=True).save(force_insert=True)
        _tell(schedule, [(now, outcome)], by=actor.name, now=now)
    return Fired(state=outcome.state.value, reason=outcome.reason, run_id=outcome.run_id)
