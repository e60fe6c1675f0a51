"""What a drill found: the report that is printed, stored, shown, and read by the certificate."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from statistics import median
from typing import Any, Self

from runs.rules.violations import Violation
from runs.rules.words import of, span


class DrillState(StrEnum):
    """`aborted` says nothing about the workflow: the drill itself could not be finished."""

    PASSED = "passed"
    FAILED = "failed"
    ABORTED = "aborted"


class CellState(StrEnum):
    """What became of a run that was struck at one step by one fault."""

    SURVIVED = "survived"
    ASKED = "asked"  # it stands at an open decision that says why
    VIOLATED = "violated"
    UNREACHED = "unreached"  # the step never comes to that point


@dataclass(frozen=True, slots=True, kw_only=True)
class Struck:
    """One cell of the matrix: this step was struck by this fault, and what came of it."""

    step: str
    fault: str
    state: CellState
    run: str = ""
    sentence: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resumed:
    """A run went on after it had stood still: where, and why, in a sentence."""

    run: str
    step: str
    fence: int
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """What a step did to the world without declaring it: a socket, a process, a file."""

    step: str
    what: str  # "opened a socket", "started a process", "wrote a file", "deleted a file"
    detail: str
    file: str
    line: int
    declares_effects: bool = False
    declares_files: bool = False

    @property
    def undeclared(self) -> bool:
        return not (self.declares_effects or (self.declares_files and "file" in self.what))

    @property
    def sentence(self) -> str:
        return f"{self.step} {self.what} ({self.detail}) at {self.file}:{self.line}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovery:
    """Seconds until the next step's start: from a worker's death, and from a worker's restart."""

    from_death: tuple[float, ...] = ()
    from_restart: tuple[float, ...] = ()

    @property
    def median(self) -> float | None:
        return round(median(self.from_death), 3) if self.from_death else None

    @property
    def maximum(self) -> float | None:
        return round(max(self.from_death), 3) if self.from_death else None

    @property
    def restart_median(self) -> float | None:
        return round(median(self.from_restart), 3) if self.from_restart else None

    @property
    def restart_maximum(self) -> float | None:
        return round(max(self.from_restart), 3) if self.from_restart else None


@dataclass(frozen=True, slots=True, kw_only=True)
class DrillReport:
    """`effects` is what the receiver did, `keys` under how many keys, `duplicates` what was too much."""

    workflow: str
    version: int
    plan_hash: str
    release: str
    database: str
    command: str
    seed: int | None
    started_at: str
    ended_at: str
    aborted_because: str = ""
    steps: tuple[str, ...] = ()
    runs: int = 0
    asked: int = 0
    kills: int = 0
    redeliveries: int = 0
    effects: int = 0
    keys: int = 0
    duplicates: int = 0
    calls_avoided: int = 0
    cost_avoided: float = 0.0
    resumes: tuple[Resumed, ...] = ()
    recovery: Recovery = field(default_factory=Recovery)
    matrix: tuple[Struck, ...] = ()
    observed: tuple[Observed, ...] = ()
    violations: tuple[Violation, ...] = ()

    @property
    def state(self) -> DrillState:
        if self.violations:
            return DrillState.FAILED
        return DrillState.ABORTED if self.aborted_because else DrillState.PASSED

    @property
    def undeclared(self) -> tuple[Observed, ...]:
        """What steps did that they declare neither as an effect nor as files."""
        return tuple(each for each in self.observed if each.undeclared)

    @property
    def sentence(self) -> str:
        """The verdict for people."""
        if self.aborted_because:
            return f"The drill could not be finished: {self.aborted_because}"
        return f"{self._struck()} {self._counted()} {self._verdict()}"

    def _struck(self) -> str:
        reached = [cell for cell in self.matrix if cell.state is not CellState.UNREACHED]
        if not reached:
            return f"{of(self.runs, 'run')} under {of(self.kills, 'kill')}."
        survived = sum(cell.state is CellState.SURVIVED for cell in reached)
        asked = sum(cell.state is CellState.ASKED for cell in reached)
        need = f"; {of(asked, 'needs', 'need')} a decision (expected)" if asked else ""
        return f"{survived} of {of(len(reached), 'boundary', 'boundaries')} survived{need}."

    def _counted(self) -> str:
        done = f"{of(self.effects, 'effect')} under {of(self.keys, 'key')}"
        slow = "" if self.recovery.median is None else f", recovery {span(self.recovery.median)}"
        return f"{done}, {of(self.duplicates, 'duplicate')}{slow}."

    def _verdict(self) -> str:
        if not self.violations:
            return "Every invariant held."
        return f"{of(len(self.violations), 'violation')}: {self.violations[0].text}"

    def as_json(self) -> dict[str, Any]:
        """What `drill --json` prints: the agreed names first, then what explains them."""
        return {
            "kills": self.kills,
            "redeliveries": self.redeliveries,
            "resumes": len(self.resumes),
            "effects": self.effects,
            "keys": self.keys,
            "duplicates": self.duplicates,
            "calls_avoided": self.calls_avoided,
            "cost_avoided": self.cost_avoided,
            "recovery_seconds": {"median": self.recovery.median, "max": self.recovery.maximum},
            "violations": [asdict(each) for each in self.violations],
            "state": self.state.value,
            "sentence": self.sentence,
            "resumed": [asdict(each) for each in self.resumes],
            "observed": [asdict(each) for each in self.observed],
            "matrix": [asdict(each) for each in self.matrix],
            "restart_seconds": {
                "median": self.recovery.restart_median,
                "max": self.recovery.restart_maximum,
            },
            **self._identity(),
            "steps": list(self.steps),
        }

    def _identity(self) -> dict[str, Any]:
        names = (
            "workflow version plan_hash release database command seed started_at ended_at "
            "aborted_because runs asked"
        )
        return {name: getattr(self, name) for name in names.split()}

    def to_text(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False, sort_keys=True)

    @classmethod
    def from_text(cls, text: str) -> Self:
        """A report as it was stored, also by a release that knew fewer fields."""
        told = json.loads(text)
        kept = {name: told[name] for name in cls.__dataclass_fields__ if name in told}
        recovery = told.get("recovery", {})
        return cls(
            **{
                **kept,
                "steps": tuple(told.get("steps", ())),
                "recovery": Recovery(**{name: tuple(times) for name, times in recovery.items()}),
                "resumes": tuple(Resumed(**each) for each in told.get("resumes", ())),
                "matrix": tuple(_struck_from(each) for each in told.get("matrix", ())),
                "observed": tuple(Observed(**each) for each in told.get("observed", ())),
                "violations": tuple(Violation(**each) for each in told.get("violations", ())),
            }
        )


def _struck_from(told: Mapping[str, Any]) -> Struck:
    return Struck(**{**told, "state": CellState(told["state"])})
