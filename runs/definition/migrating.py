"""What an author writes to take a begun run to a newer version: a function over facts and position."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from runs.definition.context import JSON, Cursor
from runs.definition.places import DeclarationError, Place

BEGINNING = Cursor(ordinal=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """The first step that is not finished, and how far into it the run has come."""

    step: str
    cursor: Cursor = BEGINNING


@dataclass(frozen=True, slots=True, kw_only=True)
class Migrated:
    """The same run as the newer version sees it: all its facts and input, and where it goes on."""

    facts: dict[str, JSON]
    at: Position


Migration = Callable[[dict[str, Any], Position], Migrated]


def require_migrations(workflow: str, version: int, declared: object, *, place: Place) -> None:
    """`migrations` maps earlier versions to functions; refused otherwise."""
    if not declared:
        return
    hint = f"Write migrations = {{{max(version - 1, 1)}: to_v{version}}}, with def to_v{version}(facts, at)."
    if not isinstance(declared, Mapping) or not all(map(callable, declared.values())):
        raise DeclarationError(
            f"Workflow {workflow!r} version {version}: migrations is {declared!r}.",
            hint=hint,
            place=place,
        )
    for source in declared:
        if not isinstance(source, int) or isinstance(source, bool) or not 1 <= source < version:
            raise DeclarationError(
                f"Workflow {workflow!r} version {version} migrates from {source!r}, which is no "
                "earlier version.",
                hint=hint,
                place=place,
            )
