"""Which benchmarks there are; apps above this one add theirs, without being known here."""

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Benchmark:
    """`module` has a function `measure(*, runs, scratch)`; `runs` is how many where nobody says."""

    module: str
    runs: int

    def measure(self, *, runs: int, scratch: Path) -> dict[str, Any]:
        figures: dict[str, Any] = import_module(self.module).measure(runs=runs, scratch=scratch)
        return figures


_known = {
    "steps": Benchmark(module="runs.management.benchmarks.steps", runs=500),
    "latency": Benchmark(module="runs.management.benchmarks.latency", runs=40),
}


def register(name: str, benchmark: Benchmark) -> None:
    """Called from an app's `ready`."""
    _known[name] = benchmark


def known() -> dict[str, Benchmark]:
    return dict(sorted(_known.items()))
