"""What a run has come to and keeps when it goes on: checkpoint, cursor, finished steps, keys."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from runs.models import Checkpoint, Run, Step
from runs.queries.in_doubt import calls_in_doubt
from runs.rules.states import StepState


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """`cursor` is where the step that is entered again goes on; `keys` are accepted calls."""

    checkpoint: int
    step: str
    cursor: int
    steps: int
    keys: int
    in_doubt: Sequence[dict[str, Any]]

    def told(self) -> dict[str, Any]:
        """The same as an event tells it."""
        return {
            "checkpoint": self.checkpoint,
            "cursor": self.cursor,
            "kept": {"steps": self.steps, "keys": self.keys},
            **({"in_doubt": list(self.in_doubt)} if self.in_doubt else {}),
        }


def kept_of(run: Run) -> Kept:
    current = Step.objects.filter(run=run, superseded=False)
    cursor = current.filter(key=run.step).values_list("cursor_ordinal", flat=True).first()
    keys = Checkpoint.objects.filter(run=run, number=run.checkpoint).values_list("keys_count")
    return Kept(
        checkpoint=run.checkpoint,
        step=run.step,
        cursor=cursor or 0,
        steps=current.filter(state=StepState.SUCCEEDED.value).count(),
        keys=keys[0][0] if keys else 0,
        in_doubt=calls_in_doubt(run.pk),
    )
