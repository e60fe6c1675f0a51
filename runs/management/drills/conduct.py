"""One drill from its first program to its report."""

import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.db import connection

from runs.conf import conf
from runs.definition import registry
from runs.definition.workflow import Workflow
from runs.management.drills import breaches, findings, roles, zombie
from runs.management.drills.asked import Asked
from runs.management.drills.hand import Hand
from runs.management.drills.playing import Played, Player
from runs.management.drills.stage import Stage, StageTrouble, eventually
from runs.queries import drilling
from runs.queries.workers import last_tick
from runs.rules.drill_report import DrillReport
from runs.rules.plan import Plan, plan_of

SQLITE_AWAY = 1.5
USUAL_EVERY = 3
RESTART = "restart-the-database"


class NoSuchStep(ValueError):
    """--kill-after names a step that the workflow does not have."""


@dataclass(slots=True, kw_only=True)
class Drill:
    """What is asked, where it is played, and what has been played so far."""

    asked: Asked
    stage: Stage
    plan: Plan
    hand: Hand
    played: list[Played] = field(default_factory=list)
    restarted: bool = False

    @property
    def steps(self) -> list[str]:
        return [step.key for step in self.plan.steps]

    def play(self, wanted: Iterator[roles.Role] | list[roles.Role]) -> list[Played]:
        player = Player(
            stage=self.stage, hand=self.hand, asked=self.asked, each_look=self.look_after
        )
        found = player.play(wanted)
        self.played += found
        return found

    def look_after(self, live: list[Played]) -> None:
        """Take the database away once, when a run is about half way."""
        if not self.asked.db_restart or self.restarted or not live:
            return
        standing = drilling.standings([live[0].run_id])[live[0].run_id]
        if self.steps.index(standing.step) >= len(self.steps) // 2:
            self.restarted = True
            _take_the_database_away(self.stage.folder)


def conduct(asked: Asked, stage: Stage) -> DrillReport:
    """Play all that was asked for and say what was found; whatever goes wrong, nothing is left."""
    drill = prepared(asked, stage)
    began = datetime.now(UTC)
    try:
        stage.set_up()
        stage.start_watch()
        if asked.zombie:
            drill.played += zombie.play(drill)
        stage.start_cluster(workers=asked.workers)
        played(drill)
        counted = findings.count(stage)
        return report(drill, began, counted=counted, left_over=stage.end())
    except StageTrouble as trouble:
        return _head(drill, began, aborted_because=str(trouble))
    finally:
        stage.end()


def prepared(asked: Asked, stage: Stage) -> Drill:
    """Raises UnknownWorkflow, BrokenWorkflow."""
    return Drill(asked=asked, stage=stage, plan=plan_asked_for(asked), hand=Hand(stage=stage))


def class_asked_for(asked: Asked) -> type[Workflow]:
    return registry.chosen(asked.workflow, asked.version)


def plan_asked_for(asked: Asked) -> Plan:
    return plan_of(class_asked_for(asked))


def require_steps(plan: Plan, numbers: Sequence[int]) -> None:
    if beyond := [number for number in numbers if not 1 <= number <= len(plan.steps)]:
        raise NoSuchStep(
            f"{plan.name} has steps 1 to {len(plan.steps)}; "
            f"--kill-after names {', '.join(map(str, beyond))}."
        )


def usual(asked: Asked, plan: Plan) -> Asked:
    """What is drilled when no fault is named: a kill after each third step, everything told twice."""
    count = len(plan.steps)
    kills = tuple(range(USUAL_EVERY, count + 1, USUAL_EVERY)) or (count,)
    return replace(asked, kill_after=kills, redeliver=True, timeout_first=True)


def played(drill: Drill) -> None:
    """The runs that were asked for, and the matrix where it was."""
    if drill.asked.matrix:
        play_matrix(drill)
        return
    drill.play(roles.asked_for(drill.asked, drill.steps))


def play_matrix(drill: Drill, *, besides: bool = True) -> list[Played]:
    """First see which points there are, then strike at each: `besides` workers, people and the watch."""
    # Its first pass comes to what no later one does.
    eventually(lambda: last_tick("clockwork") is not None, what="the watch goes round")
    drill.stage.trace(on=True)
    sent_ahead = drill.play(list(roles.scouts(drill.plan, every=drill.asked.every)))
    scouts = {str(each.run_id): each.role.name for each in sent_ahead}
    drill.stage.trace(on=False)
    reached = {
        (scouts.get(line["run"], ""), line["step"], line["point"]) for line in drill.stage.reached()
    }
    reached |= {("", "", point) for point in drill.hand.came_to}
    wanted = roles.matrix(reached, drill.steps, every=drill.asked.every)
    if not besides:
        wanted = [role for role in wanted if not (role.anywhere or role.hands)]
    effects = [step.key for step in drill.plan.steps if step.effects]
    if drill.asked.every:
        wanted += roles.misbehaviours(effects)
    return drill.play([*wanted, roles.redelivered(drill.steps)])


def report(
    drill: Drill,
    began: datetime,
    *,
    counted: Mapping[str, Any],
    left_over: Sequence[str] = (),
) -> DrillReport:
    found = findings.gather(drill.stage, drill.played, counted=counted, left_over=left_over)
    wrong = breaches.broken(found)
    avoided, saved = findings.calls_avoided(found, drill.asked)
    return _head(
        drill,
        began,
        runs=len(found.played),
        asked=sum(each.ended == "asked" for each in found.played),
        kills=sum(strike.how == "kill" for strike in found.strikes) + drill.hand.lost_hands,
        redeliveries=drill.hand.redeliveries,
        effects=sum(found.done.values()),
        keys=len(found.done),
        duplicates=sum(times - 1 for times in found.done.values()),
        calls_avoided=avoided,
        cost_avoided=saved,
        resumes=tuple(findings.resumes(found)),
        recovery=findings.recovery(found),
        matrix=tuple(findings.cells(found, wrong)),
        observed=tuple(findings.observed(drill.stage, drill.asked)),
        violations=tuple(wrong),
    )


def aborted(asked: Asked, began: datetime, *, because: str) -> DrillReport:
    """What is kept of a drill that ended without a report of its own."""
    stage = Stage(folder=Path(), environment={})
    return _head(prepared(asked, stage), began, aborted_because=because)


def _head(drill: Drill, began: datetime, **found: Any) -> DrillReport:
    return DrillReport(
        workflow=drill.plan.name,
        version=drill.plan.version,
        plan_hash=drill.plan.hash,
        release=conf().release,
        database=connection.vendor,
        command=drill.asked.command,
        seed=drill.asked.seed,
        started_at=began.isoformat(),
        ended_at=datetime.now(UTC).isoformat(),
        steps=tuple(drill.steps),
        **found,
    )


def _take_the_database_away(folder: Path) -> None:
    """PostgreSQL is restarted by whoever started it; an SQLite file is held, which has no server."""
    if connection.vendor == "sqlite":
        with _held(str(connection.settings_dict["NAME"])):
            time.sleep(SQLITE_AWAY)
        return
    wish = folder / RESTART
    wish.touch()
    connection.close()
    eventually(lambda: not wish.exists(), what="the database is back")


@contextmanager
def _held(file: str) -> Iterator[None]:
    holder = sqlite3.connect(file, timeout=20, isolation_level=None)
    try:
        holder.execute("BEGIN EXCLUSIVE")
        yield
        holder.execute("ROLLBACK")
    finally:
        holder.close()
