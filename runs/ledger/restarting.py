"""A run is begun anew under a new id with fresh keys; the old one is superseded and frozen."""

from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID

from runs.rules.policy import Actor


@dataclass(frozen=True, slots=True, kw_only=True)
class Restarted:
    """The new run, and how both stand; `asks` when a person decides before anything begins."""

    id: UUID
    state: str
    old_state: str
    asks: bool


def restart(
    actor: Actor,
    run_id: UUID,
    *,
    because: str,
    checkpoint: int | None = None,
    abandon: Collection[str] = (),
    expected_version: int | None = None,
) -> Restarted:
    """Begin a new run in place of this one; with `checkpoint`, what is before it is copied as kept.

    Raises NotAllowed, NoSuchRun, NotRestartable, RunChanged, and what `lifecycle.start` raises
    of its workflow.
    """
    raise NotImplementedError
