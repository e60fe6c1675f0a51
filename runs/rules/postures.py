"""When a run may be replayed or restarted, and the sentence that says why not."""

from collections.abc import Sequence
from dataclasses import dataclass

from runs.rules.states import FINAL, RunState
from runs.rules.verbs import NotNow
from runs.rules.words import of


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """Where a run may be begun again: behind this checkpoint, with the step of this ordinal.

    `number` 0 is the beginning. A page's cursor is given where the step is not begun anew.
    """

    number: int
    first: int
    step: str
    cursor_ordinal: int = 0
    cursor_token: str = ""

    @property
    def is_page(self) -> bool:
        return self.cursor_ordinal > 0


class NotReplayable(NotNow):
    """This run cannot be replayed from there now; the message says what can be done instead."""


class NotRestartable(NotNow):
    """This run cannot be restarted now; the message says what has to be done first."""


def why_no_replay(state: RunState, *, checkpoint: int, begun: bool = True) -> str:
    """Empty when a run in this state may be replayed."""
    if not begun:
        return "It has not begun: it stands ready to take another run's place. Decide about that."
    if state in FINAL:
        where = f"from checkpoint {checkpoint}" if checkpoint else "from the start"
        return (
            f"A run that is {state} never changes again. Begin a new run {where} instead: "
            f"runs restart RUN{f' --from {checkpoint}' if checkpoint else ''}."
        )
    if state is RunState.RUNNING:
        return "A worker is working on this run. Pause it first, then replay it."
    return ""


def why_no_restart(
    *,
    unsettled: Sequence[str],
    abandoned: Sequence[str],
    pending: str = "",
    instead: str = "",
    running: bool = False,
    cancelling: bool = False,
) -> str:
    """Empty when the run may be restarted; `unsettled` are keys of calls nobody knows of (R5).

    `pending` stands ready to take its place; `instead` is at work for it already.
    """
    if pending:
        return (
            f"It is being restarted already, as run {pending}. Decide about that one, or cancel it."
        )
    if instead:
        return f"Run {instead} does the same work and has not ended. Restart or cancel that one."
    if cancelling:
        return "It is being cancelled: its worker ends it at its next checkpoint. Restart it then."
    if running and abandoned:
        return "A worker is working on it, so nothing of it can be abandoned yet. Pause it first."
    if unknown := [key for key in abandoned if key not in set(unsettled)]:
        return f"Only calls that nobody knows of can be abandoned; {unknown[0]} is none of them."
    open_ones = [key for key in unsettled if key not in set(abandoned)]
    if open_ones:
        return (
            f"Nobody knows what became of {of(len(open_ones), 'call')}: {', '.join(open_ones[:5])}"
            f"{' …' if len(open_ones) > 5 else ''}. Settle them first, or abandon them by their keys."
        )
    return ""
