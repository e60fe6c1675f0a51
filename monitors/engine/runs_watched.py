"""Runs that declare a heartbeat: watched while a worker has them, resting while they wait, put away at their end."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from uuid import UUID

from monitors.engine.facts import Shared, View, let_go, paused_by_a_person, pinged, settle
from monitors.ledger import keeping
from monitors.queries.watching import Seen
from monitors.rules.own import Own
from monitors.rules.states import MonitorKind, MonitorState, Verdict
from monitors.rules.verdicts import Breach, Facts, judge
from runs.queries import liveness
from runs.queries.liveness import Ended, RunLife, Unbegun
from runs.rules.plan import PlanHeartbeat

AT_ONCE = 200
Monitors = dict[tuple[str, str], Seen]
# How one monitor is looked at, so that what is wrong with it does not stop the others.
Each = Callable[[Callable[[], object]], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """How far a run was when that was first seen."""

    said: str
    at: datetime


class RunsWatched:
    """Remembers when each run was last seen to get on, for what is written down without a time."""

    def __init__(self) -> None:
        self._marks: dict[UUID, Mark] = {}

    def look(self, monitors: Monitors, view: View, each: Each) -> None:
        """Make, judge, rest and put away, whichever each run needs."""
        at_work = liveness.runs_at_work()
        self._note(at_work, view)
        unbegun = {str(lying.id): lying for lying in liveness.lying_unbegun(at_most=AT_ONCE)}
        for life in at_work:
            seen = monitors.get((MonitorKind.RUN.value, str(life.id)))
            each(partial(self._at_work, life, seen, view))
        for subject, lying in unbegun.items():
            each(partial(_unbegun, lying, monitors.get((MonitorKind.RUN.value, subject)), view))
        busy = {str(life.id) for life in at_work} | unbegun.keys()
        left = [seen for seen in _of_runs(monitors) if seen.subject not in busy]
        ends = liveness.ends_of(UUID(seen.subject) for seen in left)
        for seen in left:
            each(partial(_leave, seen, ends.get(UUID(seen.subject)), view))

    def _note(self, at_work: list[RunLife], view: View) -> None:
        """A run that has just begun is at its first mark since then; a later mark is news of now.

        So is one that was written down without a time before this judge began to look.
        """
        before, self._marks = self._marks, {}
        for life in at_work:
            known = before.get(life.id)
            if known is None:
                known = Mark(said=life.mark, at=view.now if life.undated else life.got_on_at)
            elif known.said != life.mark:
                known = Mark(said=life.mark, at=view.now)
            self._marks[life.id] = known

    def _at_work(self, life: RunLife, seen: Seen | None, view: View) -> None:
        if seen is None:
            keeping.keep(_own(life), now=view.now)
        elif seen.was_paused_by_a_person:
            paused_by_a_person(seen, view)
        elif seen.state == MonitorState.PAUSED or seen.fence != life.fence:
            keeping.go_on(seen, _own(life), now=view.now)
        else:
            facts = self._facts(life, seen, view)
            if not _is_still_stuck(seen, facts):
                settle(seen, facts, shared=_shared(life))

    def _facts(self, life: RunLife, seen: Seen, view: View) -> Facts:
        facts = replace(
            pinged(seen, view),
            lives=life.lives,
            lived_at=life.renewed_at,
            lapsed_at=view.lapsed(life.renewed_at),
        )
        limit, longest = life.heartbeat.progress, life.heartbeat.longest
        if limit is not None:
            facts = self._with_progress(facts, life, timedelta(seconds=limit), view)
        if longest is None:
            return facts
        return replace(facts, end_by=_end_by(life, timedelta(seconds=longest), view))

    def _with_progress(self, facts: Facts, life: RunLife, limit: timedelta, view: View) -> Facts:
        got_on = max(life.got_on_at, self._marks[life.id].at)
        if view.now - got_on >= limit:
            # Only asked where it decides: calls that were answered are many, and need no mark.
            got_on = liveness.called_since(life.id, got_on) or got_on
        counts = view.counted(got_on + limit, allowed=limit) - limit
        return replace(facts, progress_at=counts, progress_limit=limit)


def _is_still_stuck(seen: Seen, facts: Facts) -> bool:
    """Once called slow it has to get on: of two judges the second may have seen its mark later."""
    made = judge(facts)
    if made is None or made.verdict is not Verdict.ALIVE or seen.was_breach != Breach.PROGRESS:
        return False
    said_at, got_on = seen.verdict_since, facts.progress_at
    return said_at is not None and got_on is not None and got_on <= said_at


def _end_by(life: RunLife, longest: timedelta, view: View) -> datetime:
    end_by = life.began_at + longest
    if view.now < end_by:
        return end_by
    return max(end_by, liveness.extended_until(life.id, since=life.began_at) or end_by)


def _unbegun(lying: Unbegun, seen: Seen | None, view: View) -> None:
    beat = lying.heartbeat
    own = _of_heartbeat(beat, str(lying.id), lying.tenant_id, lying.workflow, lying.reference)
    allowed = timedelta(seconds=beat.starts_within or 0)
    start_by = view.counted(lying.placed_at + allowed, allowed=allowed)
    if view.now < start_by:
        return
    if seen is None:
        keeping.keep(own, now=view.now)
    elif seen.was_paused_by_a_person:
        paused_by_a_person(seen, view)
    elif seen.state == MonitorState.PAUSED:
        keeping.go_on(seen, own, now=view.now)
    else:
        settle(
            seen,
            Facts(now=view.now, heard_at=seen.last_ping_at, start_by=start_by),
            shared=Shared(workflow=lying.workflow),
        )


def _leave(seen: Seen, end: Ended | None, view: View) -> None:
    """Nobody works on it: put it away if it is over, let it rest if it waits."""
    over, state = (end is None or end.is_over), (end.state if end else "gone")
    if seen.is_wrong:
        sentence = f"Run {seen.name} is {state} now; nothing is expected of it."
        if over or state != "queued":
            let_go(seen, view, sentence=sentence, put_away=over)
    elif over:
        keeping.put_away(seen, now=view.now)
    elif seen.state != MonitorState.PAUSED:
        keeping.rest(seen, because=f"its run is {state}", now=view.now)


def _of_runs(monitors: Monitors) -> list[Seen]:
    return [seen for seen in monitors.values() if seen.kind is MonitorKind.RUN]


def _shared(life: RunLife) -> Shared:
    return Shared(workflow=life.workflow, worker=str(life.worker_id), clusters=(life.cluster,))


def _own(life: RunLife) -> Own:
    made = _of_heartbeat(
        life.heartbeat, str(life.id), life.tenant_id, life.workflow, life.reference
    )
    return replace(made, fence=life.fence)


def _of_heartbeat(
    beat: PlanHeartbeat, subject: str, tenant_id: int, workflow: str, reference: str
) -> Own:
    return Own(
        kind=MonitorKind.RUN,
        subject=subject,
        tenant_id=tenant_id,
        name=f"{reference} of {workflow}",
        period=beat.every,
        grace=beat.grace,
        progress_limit=beat.progress,
        late_start=beat.starts_within,
        longest=beat.longest,
        fence=0,
    )
