"""Evidence of many calls as a table: its columns, and what each cell shows."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from runs.rules import canonical

MOST_COLUMNS = 6
SHOWN = 500
WHOLE = "evidence"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """`text` is shown of `length` characters."""

    text: str
    length: int

    @property
    def cut(self) -> bool:
        return len(self.text) < self.length


def columns_of(evidences: Iterable[Any], *, most: int = MOST_COLUMNS) -> tuple[str, ...]:
    """The names that the evidence uses, in the order in which they first come."""
    found: dict[str, None] = {}
    for evidence in evidences:
        found.update(dict.fromkeys(evidence if isinstance(evidence, dict) else (WHOLE,)))
    return tuple(found)[:most]


def cells_of(evidence: Any, columns: Sequence[str], *, most: int = SHOWN) -> list[Cell]:
    values = evidence if isinstance(evidence, dict) else {WHOLE: evidence}
    return [cell_of(values.get(name), most=most) for name in columns]


def cell_of(value: Any, *, most: int = SHOWN) -> Cell:
    text = said(value)
    return Cell(text=text[:most], length=len(text))


def said(value: Any) -> str:
    """One value in words: lists joined, the rest as JSON."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(item, str | int | float) for item in value):
        return "; ".join(str(item) for item in value)
    return canonical.dumps(value)
