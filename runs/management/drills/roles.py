"""Which runs a drill plays, and what strikes each of them."""

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from runs.engine.drill_receiver import MISBEHAVIOURS
from runs.management.drills.asked import Asked
from runs.rules.crash_points import SAYS, Point
from runs.rules.plan import Plan

PEACE = "in peace"
# What only the watch, or whoever starts, answers and delivers, comes to.
HANDS_POINTS: tuple[Point, ...] = ("started", "decision_applied", "event_committed")
WATCH_POINTS: tuple[Point, ...] = (
    "timer_fired",
    "loss_declared",
    "death_proven",
    "taken_over",
    "tick_committed",
)
# What the watch comes to on a machine that stands still now and then: no run can be made to lead there.
CHANCE_POINTS: tuple[Point, ...] = (
    "event_matched",
    "fence_raised",
    "leases_extended",
    "limit_committed",
)
# What only a misbehaving receiver leads to, or one that was slow just then.
DOUBT_POINTS: tuple[Point, ...] = (
    "doubt_committed",
    "resend_committed",
    "refusal_committed",
    "unsent_committed",
)
IDLE_POINTS: tuple[Point, ...] = (
    "enlisted",
    "lease_renewed",
    "lock_committed",
    "drain_committed",
    "retired",
)
RANDOM_POINTS: tuple[Point, ...] = (
    "claimed",
    "before_body",
    "intent_committed",
    "sent",
    "before_result",
    "result_committed",
    "after_body",
    "before_commit",
    "committed",
    "finished",
    "parked",
)
MOST_STRIKES = 3
# Misbehaviours that lead to every point that the others lead to.
TELLING = ("drop", "refuse", "unavailable")
MISBEHAVES = {
    "drop": "the receiver does it and cuts the line",
    "timeout": "the receiver does nothing and does not answer",
    "late": "the receiver does it too late",
    "refuse": "the receiver refuses once",
    "unavailable": "the receiver takes nothing at first",
    "slow": "the receiver takes its time",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Role:
    """One run: what strikes its worker one after the other, and how its receiver misbehaves.

    `anywhere` is where the watch is struck, `hands` where whoever acts from outside is. `step` and `fault` name the
    cell of the matrix that this run fills; empty where it fills none.
    """

    name: str
    strikes: tuple[str, ...] = ()
    anywhere: str = ""
    hands: str = ""
    manners: dict[str, Any] = field(default_factory=dict)
    step: str = ""
    fault: str = ""
    redelivers: bool = False


def asked_for(asked: Asked, steps: Sequence[str]) -> Iterator[Role]:
    """The runs of a drill that names what strikes them. Raises NoSuchStep."""
    manners = {"first": ["timeout"]} if asked.timeout_first else {}
    kills = tuple(f"finished:1@{steps[number - 1]}" for number in asked.kill_after)
    for number in range(1, asked.runs + 1):
        if asked.seed is not None:
            yield _random(asked, steps, number)
        else:
            yield Role(
                name=f"drilled-{number}",
                strikes=kills,
                manners=manners,
                redelivers=asked.redeliver,
            )


def _random(asked: Asked, steps: Sequence[str], number: int) -> Role:
    # Where to strike needs no secrecy, only to be repeatable.
    chance = random.Random(f"{asked.seed} {number}")  # noqa: S311
    return Role(
        name=f"seed {asked.seed}-{number}",
        strikes=tuple(random_strikes(chance, steps)),
        manners={"first": list(MISBEHAVIOURS), "share": chance.choice([0.0, 0.3, 0.7])},
        redelivers=chance.random() < 0.5,
    )


def random_strikes(chance: random.Random, steps: Sequence[str]) -> list[str]:
    """Up to three kills, each in a step and at a point that may or may not come."""
    return [
        f"{chance.choice(RANDOM_POINTS)}:{chance.choice([1, 1, 1, 2])}@{chance.choice(steps)}"
        for _ in range(chance.randint(0, MOST_STRIKES))
    ]


def scouts(plan: Plan, *, every: bool) -> Iterator[Role]:
    """Runs that only show which points there are: in peace, killed once, and misbehaved at."""
    yield Role(name=PEACE)
    yield Role(name="killed once", strikes=("before_body:1",))
    ways = MISBEHAVIOURS if every else TELLING
    for misbehaviour in ways if any(step.effects for step in plan.steps) else ():
        yield Role(name=f"receiver {misbehaviour}", manners={"first": [misbehaviour]})


def matrix(
    reached: Iterable[tuple[str, str, str]], steps: Sequence[str], *, every: bool
) -> list[Role]:
    """A run for each point of each step that some scout came to; each point once unless `every`.

    What was reached is (scout, step, point).
    """
    cells: dict[tuple[str, str], Role] = {}
    for scout, step, point in sorted(reached, key=lambda told: (told[0] != PEACE, told)):
        if (role := _cell(scout, step, point, steps)) is not None:
            cells.setdefault((role.step, role.fault), role)
    found = list(cells.values())
    if every:
        return found
    once: dict[str, Role] = {}
    for role in sorted(found, key=lambda role: role.step not in ("pay", "purge", "reserve")):
        once.setdefault(role.fault, role)
    return list(once.values())


def _cell(scout: str, step: str, point: str, steps: Sequence[str]) -> Role | None:
    misbehaviour = scout.removeprefix("receiver ") if scout.startswith("receiver ") else ""
    manners = {"first": [misbehaviour]} if misbehaviour else {}
    if point in CHANCE_POINTS or (point in DOUBT_POINTS and not misbehaviour):
        return None
    if point in HANDS_POINTS:
        return Role(name=point, hands=point, step="people", fault=point)
    if point in WATCH_POINTS:
        # A death for it to find, and retries for it to wake.
        return Role(
            name=point,
            strikes=("before_body:1",),
            anywhere=point,
            manners={"first": ["unavailable"]},
            step="the watch",
            fault=point,
        )
    if point in IDLE_POINTS or step not in steps:
        return None
    strike = f"{point}:1@{step}"
    return Role(name=f"{step} {point}", strikes=(strike,), manners=manners, step=step, fault=point)


def misbehaviours(steps: Iterable[str]) -> list[Role]:
    """A run for each step with effects and each way in which its receiver may misbehave."""
    return [
        Role(
            name=f"{step} {how}",
            manners={"first": [how], "step": step},
            step=step,
            fault=f"receiver {how}",
        )
        for step in steps
        for how in MISBEHAVIOURS
    ]


def redelivered(steps: Sequence[str]) -> Role:
    return Role(
        name="redelivered", redelivers=True, step=steps[0], fault="doorbells and events twice"
    )


def said_of(fault: str) -> str:
    """A fault in words."""
    if fault in SAYS:
        return SAYS[fault]
    return MISBEHAVES.get(fault.removeprefix("receiver "), fault)
