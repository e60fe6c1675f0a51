"""Programs made up by chance, once in peace and once under kills, redeliveries and receiver faults: the same."""

import random
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded

from runs.engine import drill_rehearsal
from runs.engine.clockwork import Clockwork
from runs.engine.drill_receiver import MISBEHAVIOURS
from runs.engine.drill_rehearsal import Rehearsal
from runs.management.drills import findings
from runs.management.drills.conduct import Drill
from runs.management.drills.hand import Hand
from runs.management.drills.playing import Played, Player
from runs.management.drills.roles import Role, random_strikes
from runs.management.drills.stage import PATIENCE, Stage
from runs.queries import drilling
from tests.drills.programs import PARTS, Made, texts
from tests.drills.stages import a_drill, report_of
from tests.support.programs import CLUSTER_WORKERS
from tests.support.runs import a_worker

pytestmark = [pytest.mark.processes, pytest.mark.timeout(300)]

# Seeds under which a program once came to another end; (program, strikes) as Made.
FAILED_ONCE: tuple[Made, ...] = ()
SEED, DEFAULT, LONG = 20261130, 20, 1000
MOST_ROUNDS = 60


def programs(count: int, *, seed: int) -> list[Made]:
    """What hypothesis makes up from this seed: always the same."""
    found: list[Made] = []

    @seeded(seed)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(texts())
    def collect(text: str) -> None:
        found.append(Made(text=text, seed=seed * LONG + len(found)))

    collect()
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Came:
    """What a run came to: its facts, and how often the receiver did what for it."""

    state: str
    facts: dict[str, Any]
    done: Counter[str]


def came_to(stage: Stage, run_ids: Iterable[UUID]) -> dict[UUID, Came]:
    counted = findings.count(stage)
    done: dict[str, Counter[str]] = {}
    for key, times in counted["done"].items():
        done.setdefault(counted["runs"][key], Counter())[counted["calls"][key]] += times
    states = drilling.standings(run_ids)
    return {
        run_id: Came(
            state=now.state, facts=drilling.results(run_id), done=done.get(str(run_id), Counter())
        )
        for run_id, now in states.items()
    }


def in_peace(stage: Stage, programs: list[Made]) -> list[Came]:
    """Every program in this process, one worker, nothing struck."""
    hand = Hand(stage=stage)
    drill_rehearsal.turn(Rehearsal(mark=stage.mark, receiver=stage.receiver, patience=PATIENCE))
    try:
        ids = [_start(stage, hand, one, name="in peace") for one in programs]
        _work_through(hand, ids)
    finally:
        drill_rehearsal.turn_back()
    came = came_to(stage, ids)
    return [came[run_id] for run_id in ids]


def _start(stage: Stage, hand: Hand, one: Made, *, name: str) -> UUID:
    asked = a_drill(stage, "drill_program", data={"program": one.text}).asked
    return hand.start(asked, reference=name)


def _work_through(hand: Hand, ids: list[UUID]) -> None:
    clockwork = Clockwork()
    with a_worker() as worker:
        for _ in range(MOST_ROUNDS):
            worker.drain_placed(until=time.monotonic() + 60, stop=lambda: False)
            waits = drilling.open_waits(ids)
            if not waits:
                return
            hand.attend(waits)
            clockwork.go_round()
    raise AssertionError("the programs did not come to their end in peace")


class Struck(Player):
    """Plays programs instead of one workflow with one input."""

    def __init__(self, drill: Drill, programs: list[Made]) -> None:
        super().__init__(stage=drill.stage, hand=drill.hand, asked=drill.asked)
        self.programs = {f"seed {one.seed}": one for one in programs}

    def _begin(self, role: Role) -> Played:
        program = self.programs[role.name].text
        self.asked = replace(self.asked, data={"program": program})
        return super()._begin(role)


def roles(programs: list[Made]) -> Iterator[Role]:
    for one in programs:
        chance = random.Random(one.seed)  # noqa: S311
        yield Role(
            name=f"seed {one.seed}",
            strikes=tuple(random_strikes(chance, PARTS)),
            manners={"first": list(MISBEHAVIOURS), "share": chance.choice([0.0, 0.3, 0.6])},
            redelivers=chance.random() < 0.3,
        )


def under_fire(stage: Stage, programs: list[Made]) -> tuple[Drill, list[Played]]:
    drill = a_drill(stage, "drill_program", data={"program": "[[], [], []]"})
    player = Struck(drill, programs)
    drill.played = player.play(list(roles(programs)))
    in_order = {each.role.name: each for each in drill.played}
    return drill, [in_order[f"seed {one.seed}"] for one in programs]


def compared(stage: Stage, programs: list[Made]) -> list[str]:
    """Each program that came to something else, with its seed; an open decision is no difference."""
    peace = in_peace(stage, programs)
    stage.start_watch()
    stage.start_cluster(workers=CLUSTER_WORKERS)
    drill, played = under_fire(stage, programs)
    fire = came_to(stage, [each.run_id for each in played])
    assert report_of(drill).violations == ()
    return [
        f"{one}: in peace {before}, under fire {fire[each.run_id]}"
        for one, before, each in zip(programs, peace, played, strict=True)
        if each.ended != "asked" and fire[each.run_id] != before
    ]


def test_twenty_programs_come_to_the_same_under_kills_as_in_peace(quiet_stage: Stage) -> None:
    made_up = [*FAILED_ONCE, *programs(DEFAULT, seed=SEED)]

    assert len(made_up) >= DEFAULT
    assert compared(quiet_stage, made_up) == []


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("batch", range(10))
def test_a_thousand_programs_come_to_the_same_under_kills_as_in_peace(
    quiet_stage: Stage, batch: int
) -> None:
    assert compared(quiet_stage, programs(LONG // 10, seed=SEED + 1 + batch)) == []
