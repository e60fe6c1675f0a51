"""What may be done to many runs at once, and what each of them has to have done alone."""

from collections.abc import Sequence
from enum import StrEnum

from runs.rules.verbs import RunVerb, Stands, what_happens, why_not
from runs.rules.words import of

MOST = 500


class Together(StrEnum):
    """A verb on many runs; exporting them changes none."""

    CANCEL = "cancel"
    RETRY = "retry"
    RESUME = "resume"
    LABEL = "label"
    EXPORT = "export"


class SelectionState(StrEnum):
    """Chosen and looked at; under way; all looked after; the rest left as it was."""

    CHOSEN = "chosen"
    RUNNING = "running"
    DONE = "done"
    STOPPED = "stopped"


class Outcome(StrEnum):
    """What became of one run of a selection; none yet is the empty text."""

    DONE = "done"
    REFUSED = "refused"


def why_not_together(
    verb: Together, stands: Stands, *, grave: Sequence[str], at_hand: Sequence[str]
) -> str:
    """Empty when it may be done to this run among others.

    `grave` names its calls that cannot be undone, while nobody knows whether they happened, `at_hand`
    those that may leave in the step it is in: what becomes of either is never decided for many runs.
    """
    if verb is Together.EXPORT:
        return ""
    if refusal := why_not(RunVerb(verb.value), stands):
        return refusal
    if verb is Together.CANCEL and grave:
        return (
            f"Nobody knows what became of {of(len(grave), 'call')} that cannot be undone "
            f"({grave[0]}). Look at it alone: it is never ended among others."
        )
    if verb is Together.CANCEL and at_hand:
        return (
            f"A worker is in a step whose calls cannot be undone ({at_hand[0]}), and one may be left "
            "in doubt. Cancel it alone."
        )
    return ""


def what_happens_together(verb: Together, stands: Stands) -> str:
    """The sentence of the single move; never reached where `why_not_together` speaks."""
    if verb is Together.EXPORT:
        return "Its line stands in the file. Nothing changes."
    return what_happens(RunVerb(verb.value), stands)
