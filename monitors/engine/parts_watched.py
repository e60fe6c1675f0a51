"""Parts of Milepost itself: workers, the cluster, the watch, and schedules."""

from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from uuid import UUID

from monitors.engine.facts import Shared, View, let_go, paused_by_a_person, pinged, settle
from monitors.engine.runs_watched import Each, Monitors
from monitors.ledger import keeping
from monitors.queries.watching import Seen
from monitors.rules.own import CLUSTER, PULSE_EVERY, WATCH, Own, of_a_process
from monitors.rules.states import MonitorKind, MonitorState, Verdict
from monitors.rules.verdicts import Facts, Judged, judge
from runs.conf import conf
from runs.queries import liveness
from runs.queries.liveness import ScheduleLife, WorkerLife
from runs.rules.states import WorkerState

# A lost worker is shown as silent for at least this long, then its place is taken for good.
LOST_SHOWN = timedelta(minutes=1)
GIVEN_UP = timedelta(hours=1)
DUTIES = ("clockwork", "schedules", "selections", "batches", "alerts")
DUTY_LIMIT = timedelta(seconds=15)


def look_at_workers(monitors: Monitors, view: View, each: Each, *, tenant_id: int) -> None:
    """Each worker has a monitor from its first lease on until it ends."""
    known = [seen for seen in monitors.values() if seen.kind is MonitorKind.WORKER]
    workers = liveness.workers(also={UUID(seen.subject) for seen in known})
    by_id = {seen.subject: seen for seen in known}
    for worker in workers:
        seen = by_id.get(str(worker.id))
        each(partial(_worker, worker, seen, view, tenant_id=tenant_id))
    _cluster(monitors.get((MonitorKind.CLUSTER.value, CLUSTER)), workers, view, tenant_id=tenant_id)


def _worker(worker: WorkerLife, seen: Seen | None, view: View, *, tenant_id: int) -> None:
    if seen is None:
        keeping.keep(_own_worker(worker, tenant_id), now=view.now)
        return
    shared = Shared(worker=str(worker.id), clusters=(worker.cluster,))
    if worker.state == WorkerState.ENDED or _is_given_up(worker, seen, view):
        what = "has ended" if worker.state == WorkerState.ENDED else "is gone; others have its work"
        if seen.is_wrong:
            sentence = f"Worker {worker.name} {what}."
            let_go(seen, view, sentence=sentence, put_away=True, shared=shared)
        else:
            keeping.put_away(seen, now=view.now)
    elif seen.was_paused_by_a_person:
        paused_by_a_person(seen, view)
    else:
        settle(seen, _worker_facts(worker, seen, view), shared=shared)


def _own_worker(worker: WorkerLife, tenant_id: int) -> Own:
    beat = conf().beat_every.total_seconds()
    return of_a_process(
        MonitorKind.WORKER, str(worker.id), worker.name, tenant_id=tenant_id, beat=beat
    )


def _is_given_up(worker: WorkerLife, seen: Seen, view: View) -> bool:
    """Lost, told of, and with nothing left in its hands."""
    if worker.state != WorkerState.LOST or worker.ended_at is None or worker.runs:
        return False
    gone = view.now - worker.ended_at
    return gone > GIVEN_UP or (gone > LOST_SHOWN and seen.was_verdict == Verdict.SILENT)


def _worker_facts(worker: WorkerLife, seen: Seen, view: View) -> Facts:
    live = worker.state == WorkerState.LIVE
    return replace(
        pinged(seen, view),
        lives=worker.lives,
        lived_at=worker.renewed_at,
        lapsed_at=view.lapsed(worker.renewed_at) if live else worker.ended_at,
    )


def _cluster(seen: Seen | None, workers: list[WorkerLife], view: View, *, tenant_id: int) -> None:
    """One for all workers: it is pinged by each of them, and lives while one of them does."""
    if seen is None:
        if workers:
            beat = conf().beat_every.total_seconds()
            own = of_a_process(
                MonitorKind.CLUSTER, CLUSTER, "the cluster", tenant_id=tenant_id, beat=beat
            )
            keeping.keep(own, now=view.now)
        return
    if seen.was_paused_by_a_person:
        paused_by_a_person(seen, view)
        return
    renewed = [worker.renewed_at for worker in workers if worker.state == WorkerState.LIVE]
    facts = replace(
        pinged(seen, view),
        lives=any(worker.lives for worker in workers),
        lived_at=max(renewed, default=None),
    )
    shared = Shared(clusters=tuple(sorted({worker.cluster for worker in workers})))
    settle(seen, facts, shared=shared)


def look_at_watch(monitors: Monitors, view: View, *, tenant_id: int) -> None:
    """Its ping is its own, through the pages; the database's half is that its duties go round."""
    seen = monitors.get((MonitorKind.WATCH.value, WATCH))
    if seen is None:
        pulse = PULSE_EVERY.total_seconds()
        own = Own(
            kind=MonitorKind.WATCH,
            subject=WATCH,
            tenant_id=tenant_id,
            name="the watch",
            period=pulse,
            grace=conf().beat_every.total_seconds(),
        )
        keeping.keep(own, now=view.now)
    elif seen.was_paused_by_a_person:
        paused_by_a_person(seen, view)
    elif not view.is_blind:
        ticks = liveness.ticks(DUTIES)
        slowest = min(ticks.values(), default=None)
        counted = view.counted(slowest + DUTY_LIMIT, allowed=DUTY_LIMIT) if slowest else None
        facts = Facts(
            now=view.now,
            heard_at=seen.last_ping_at,
            lives=True,
            progress_at=counted - DUTY_LIMIT if counted else None,
            progress_limit=DUTY_LIMIT,
        )
        settle(seen, facts)


def look_at_schedules(monitors: Monitors, view: View, each: Each) -> None:
    """Whether each is fired when it is due, and whether its run is begun."""
    known = {seen.subject: seen for seen in monitors.values() if seen.kind is MonitorKind.SCHEDULE}
    for schedule in liveness.schedules():
        each(partial(_schedule, schedule, known.pop(str(schedule.id), None), view))
    for seen in known.values():
        each(partial(_removed_schedule, seen, view))


def _removed_schedule(seen: Seen, view: View) -> None:
    if seen.is_wrong:
        sentence = f"Schedule {seen.name} was removed."
        let_go(seen, view, sentence=sentence, put_away=True)
    else:
        keeping.put_away(seen, now=view.now)


def _schedule(schedule: ScheduleLife, seen: Seen | None, view: View) -> None:
    if seen is None:
        keeping.keep(_own_schedule(schedule), now=view.now)
    elif seen.was_paused_by_a_person:
        paused_by_a_person(seen, view)
    elif not schedule.enabled:
        if seen.is_wrong:
            sentence = f"Schedule {seen.name} was paused."
            let_go(seen, view, sentence=sentence, put_away=False)
        elif seen.state != MonitorState.PAUSED:
            keeping.rest(seen, because="its schedule is paused", now=view.now)
    elif seen.state == MonitorState.PAUSED:
        keeping.go_on(seen, _own_schedule(schedule), now=view.now)
    else:
        facts = Facts(now=view.now, start_by=_start_by(schedule, view))
        judged = (judge(facts) if facts.start_by else None) or Judged(
            verdict=Verdict.ALIVE, since=view.now
        )
        settle(seen, facts, judged=judged, shared=Shared(workflow=schedule.workflow), pings=False)


def _start_by(schedule: ScheduleLife, view: View) -> datetime | None:
    """When its run has to be begun: the one that lies there, or else the one that is due next."""
    since = schedule.unbegun_since or schedule.due_at
    grace = timedelta(seconds=schedule.grace)
    return view.counted(since + grace, allowed=grace) if since else None


def _own_schedule(schedule: ScheduleLife) -> Own:
    return Own(
        kind=MonitorKind.SCHEDULE,
        subject=str(schedule.id),
        tenant_id=schedule.tenant_id,
        name=schedule.slug,
        period=None,
        grace=schedule.grace,
        late_start=schedule.grace,
        workflow=schedule.workflow,
    )
