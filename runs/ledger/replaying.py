"""A run is redone from an earlier checkpoint: same id, same keys, a new generation of its steps."""

from dataclasses import dataclass
from uuid import UUID

from runs.rules.policy import Actor


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """What became of the run: the generation that counts now, and where it begins."""

    id: UUID
    state: str
    generation: int
    step: str


def replay(
    actor: Actor,
    run_id: UUID,
    *,
    checkpoint: int,
    because: str,
    forget_judgements: bool = False,
    expected_version: int | None = None,
) -> Replayed:
    """Begin the steps behind `checkpoint` again as a new generation; 0 is the beginning.

    Raises NotAllowed, NoSuchRun, NotReplayable, RunChanged.
    """
    raise NotImplementedError
