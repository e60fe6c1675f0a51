"""What a drill found, read from the database, the receiver, and what the strikes left behind."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any
from uuid import UUID

from runs.definition import registry
from runs.engine import drill_rehearsal
from runs.management.drills.asked import Asked
from runs.management.drills.playing import Played
from runs.management.drills.roles import said_of
from runs.management.drills.stage import Stage, lines_of
from runs.queries import drilling
from runs.queries.drilling import CallMade, Claim
from runs.rules.drill_report import CellState, Observed, Recovery, Resumed, Struck
from runs.rules.violations import Violation

# "retry retry 2 is due"
STUTTER = re.compile(r"^(\w+) \1 ")
ANSWERED = ("answered", "event", "is due", "came")


@dataclass(frozen=True, slots=True, kw_only=True)
class Strike:
    """When which process was struck, where."""

    at: datetime
    pid: int
    point: str
    step: str
    run: str
    how: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Everything a report is made of, gathered once. `done` is how often the receiver did each key."""

    played: Sequence[Played]
    strikes: Sequence[Strike]
    claims: Mapping[UUID, list[Claim]]
    calls: Sequence[CallMade]
    done: Mapping[str, int]
    restarts: Sequence[datetime]
    left_over: Sequence[str]

    @property
    def run_ids(self) -> list[UUID]:
        return [each.run_id for each in self.played]

    def struck(self, run_id: UUID) -> list[Strike]:
        return [strike for strike in self.strikes if strike.run == str(run_id)]


def strikes_on(stage: Stage) -> list[Strike]:
    return [
        Strike(**{**line, "at": datetime.fromtimestamp(line["at"], UTC)})
        for line in stage.strikes()
    ]


def done_for(played: Sequence[Played], counted: Mapping[str, Any]) -> dict[str, int]:
    """What the receiver did for these runs, and for no run that anybody knows."""
    mine = {str(each.run_id) for each in played} | {""}
    return {key: n for key, n in counted["done"].items() if counted["runs"][key] in mine}


def gather(
    stage: Stage,
    played: Sequence[Played],
    *,
    counted: Mapping[str, Any],
    left_over: Sequence[str] = (),
) -> Found:
    ids = [each.run_id for each in played]
    claims: dict[UUID, list[Claim]] = {run_id: [] for run_id in ids}
    for claim in drilling.claims(ids):
        claims[claim.run_id].append(claim)
    mine = {str(run_id) for run_id in ids} | {""}
    return Found(
        played=played,
        strikes=[strike for strike in strikes_on(stage) if strike.run in mine],
        claims=claims,
        calls=drilling.calls(ids),
        done=done_for(played, counted),
        restarts=drilling.workers_started(),
        left_over=left_over,
    )


def resumes(found: Found) -> Iterator[Resumed]:
    """Each time a run went on after it had stood still, with the reason."""
    for played in found.played:
        claims = found.claims[played.run_id]
        for before, claim in pairwise(claims):
            why = _why(claim, _death_between(found, before, claim))
            yield Resumed(
                run=str(played.run_id),
                step=claim.step,
                fence=claim.fence,
                sentence=f"Run {played.role.name} went on at step {claim.step}: {why}",
            )


def _death_between(found: Found, before: Claim, claim: Claim) -> Strike | None:
    if not before.lost:
        return None
    among = [
        strike
        for strike in found.struck(claim.run_id)
        if before.claimed_at <= strike.at <= claim.claimed_at
    ]
    return among[-1] if among else None


def _why(claim: Claim, death: Strike | None) -> str:
    reason = STUTTER.sub(r"\1 ", claim.reason)
    if death is None:
        return f"{reason}."
    done = "stopped" if death.how == "stop" else "killed"
    where = f" of step {death.step}" if death.step else ""
    return (
        f"its worker (process {death.pid}) was {done} at “{death.point}”{where}: "
        f"{said_of(death.point)}. Seen as: {reason}."
    )


def recovery(found: Found) -> Recovery:
    """From a worker's death, and from the start of the one that took its place, to the next start."""
    deaths, restarts = [], []
    for played in found.played:
        # Where the watch is killed as well, it is another thing that is rehearsed.
        claims = [] if played.role.anywhere else found.claims[played.run_id]
        for before, claim in pairwise(claims):
            death = _death_between(found, before, claim)
            if death is None or death.how != "kill" or _somebody_was_asked(claim):
                continue
            deaths.append(round((claim.claimed_at - death.at).total_seconds(), 4))
            came = [at for at in found.restarts if death.at <= at <= claim.claimed_at]
            if came:
                restarts.append(round((claim.claimed_at - came[0]).total_seconds(), 4))
    return Recovery(from_death=tuple(deaths), from_restart=tuple(restarts))


def _somebody_was_asked(claim: Claim) -> bool:
    return any(word in claim.reason for word in ANSWERED)


def calls_avoided(found: Found, asked: Asked) -> tuple[int, float]:
    """How many calls were not made because their key was answered already, and what they cost."""
    costs = _costs(asked)
    avoided = sum(call.reused for call in found.calls)
    saved = sum(call.reused * costs.get(call.effect, 0.0) for call in found.calls)
    return avoided, round(saved, 6)


def _costs(asked: Asked) -> dict[str, float]:
    cls = registry.chosen(asked.workflow, asked.version)
    return {effect.name: float(effect.cost or 0.0) for step in cls.steps for effect in step.effects}


def cells(found: Found, wrong: Sequence[Violation]) -> list[Struck]:
    """The matrix: what became of each run that was to fill a cell of it."""
    return [_cell(each, found, wrong) for each in found.played if each.role.fault]


def _cell(each: Played, found: Found, wrong: Sequence[Violation]) -> Struck:
    mine = [violation for violation in wrong if violation.run == str(each.run_id)]
    if mine:
        state, sentence = CellState.VIOLATED, mine[0].text
    elif each.ended == "asked":
        state, sentence = CellState.ASKED, f"It asks: {each.reason}"
    elif each.unstruck:
        state, sentence = CellState.UNREACHED, "The step does not come to this point."
    else:
        state, sentence = CellState.SURVIVED, _survived(each, found)
    return Struck(
        step=each.role.step,
        fault=each.role.fault,
        state=state,
        run=str(each.run_id),
        sentence=sentence,
    )


def _survived(each: Played, found: Found) -> str:
    struck = found.struck(each.run_id)
    claims = len(found.claims[each.run_id])
    hit = f"Struck when {said_of(struck[0].point)}. " if struck else ""
    return f"{hit}Claimed {claims} times, then {each.state}."


def observed(stage: Stage, asked: Asked) -> list[Observed]:
    """What steps did to the world, each place once."""
    steps = {step.key: step for step in registry.chosen(asked.workflow, asked.version).steps}
    lines = {
        (line["step"], line["what"], line["file"], line["line"]): line
        for line in lines_of(stage.observed)
    }
    return [
        Observed(
            **line,
            declares_effects=bool(steps[line["step"]].effects),
            declares_files=bool(steps[line["step"]].files),
        )
        for _, line in sorted(lines.items())
        if line["step"] in steps
    ]


def count(stage: Stage) -> dict[str, Any]:
    return drill_rehearsal.count(stage.receiver)
