"""What was asked of a drill on the command line."""

import json
from dataclasses import asdict, dataclass, field
from typing import Any, Self


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """`seed` draws random strikes for every run; `patience` is how long a run may stand still."""

    workflow: str = "ten_steps"
    version: int | None = None
    data: dict[str, Any] = field(default_factory=dict)
    kill_after: tuple[int, ...] = ()
    redeliver: bool = False
    timeout_first: bool = False
    db_restart: bool = False
    zombie: bool = False
    matrix: bool = False
    every: bool = False
    seed: int | None = None
    runs: int = 1
    workers: int = 2
    patience: float = 60.0
    command: str = "drill"

    def to_text(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_text(cls, text: str) -> Self:
        told = json.loads(text)
        return cls(**{**told, "kill_after": tuple(told["kill_after"])})
