"""What a decision rested on when it was opened, compared with how it stands now."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from runs.rules import canonical

NOTHING = "nothing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """One thing that is another one now."""

    what: str
    before: str
    now: str


def moved(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[Moved]:
    """Everything that differs, in words; what is the same is not named."""
    return [
        Moved(what=what, before=_said(before.get(what)), now=_said(now.get(what)))
        for what in sorted({*before, *now})
        if before.get(what) != now.get(what)
    ]


def _said(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return ", ".join(f"{amount} {name}" for name, amount in sorted(value.items())) or NOTHING
    return NOTHING if value is None else canonical.dumps(value)
