"""Steps a second: real runs of ten empty steps, beside a bare driver doing four writes a commit."""

import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from runs.definition import Workflow, registry, step
from runs.engine.worker import Worker
from runs.ledger import lifecycle
from runs.management.benchmarks import floors
from runs.management.benchmarks.counting import Counted, counting
from runs.rules.policy import local_operator

STEPS = 10
ROUNDS = 5
COUNTED_RUNS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """Medians over the rounds; `commits_per_step` counts start and claim with their run."""

    steps_per_second: float
    floor_per_second: float
    ratio: float
    commits_per_step: float
    statements_per_step: float


def ten_empty_steps() -> type[Workflow]:
    """A workflow whose bodies do nothing: what is left is the engine."""
    bodies: dict[str, Any] = {}
    for number in range(1, STEPS + 1):

        def body(self: Any, run: Any) -> None:
            """Do nothing."""

        body.__name__ = f"step_{number:02}"
        bodies[body.__name__] = step(reads=["n"])(body)
    members = {
        "name": "bench_steps",
        "version": 1,
        "Input": type("Input", (), {"__annotations__": {"n": int}}),
    }
    return type("BenchSteps", (Workflow,), {**members, **bodies, "__doc__": "Ten empty steps."})


def measure(*, runs: int, scratch: Path) -> dict[str, float]:
    """Take turns, round by round, with the bare driver on the same database."""
    floor = floors.of_this_database(scratch)
    with registry.isolated():
        ten_empty_steps()
        worker = Worker(on_lost=lambda: None)
        worker.enlist()
        try:
            _engine(worker, 10)
            floor(10)
            rounds = [_round(worker, floor, max(runs // ROUNDS, 1)) for _ in range(ROUNDS)]
            counted = _count(worker)
        finally:
            worker.retire(because="benchmark over")
    steps = COUNTED_RUNS * STEPS
    figures = Figures(
        steps_per_second=round(statistics.median(engine for engine, _ in rounds), 1),
        floor_per_second=round(statistics.median(bare for _, bare in rounds), 1),
        ratio=round(statistics.median(engine / bare for engine, bare in rounds), 3),
        commits_per_step=round(counted.commits / steps, 3),
        statements_per_step=round(counted.statements / steps, 3),
    )
    return asdict(figures)


def _round(worker: Worker, floor: Callable[[int], float], runs: int) -> tuple[float, float]:
    return _engine(worker, runs), floor(runs)


def _engine(worker: Worker, runs: int) -> float:
    began = time.perf_counter()
    _execute(worker, runs)
    return runs * STEPS / (time.perf_counter() - began)


def _execute(worker: Worker, runs: int) -> None:
    actor = local_operator("bench")
    for _ in range(runs):
        lifecycle.start(actor, workflow="bench_steps", data={"n": 1})
    if not worker.drain_placed(until=time.monotonic() + 600, stop=lambda: False):
        raise RuntimeError("The benchmark's runs were not done within ten minutes.")


def _count(worker: Worker) -> Counted:
    with counting() as counted:
        _execute(worker, COUNTED_RUNS)
    return counted
