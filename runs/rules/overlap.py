"""What happens when a schedule is due while its run before still goes on: one table."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

# So many of the runs that are replaced together are named in the reason.
NAMED = 5


class Overlap(StrEnum):
    """What the author of a schedule decides beforehand."""

    CONCURRENT = "concurrent"
    SKIP = "skip"
    REPLACE = "replace"
    QUEUE_ONE = "queue_one"


class Standing(StrEnum):
    """How the run before stands. A failed one is over: nobody works on it until a person does."""

    OVER = "over"
    QUEUED = "queued"
    RUNNING = "running"
    WAITING = "waiting"
    PAUSED = "paused"
    ZOMBIE = "zombie"
    READY = "ready"


class Act(StrEnum):
    START = "start"
    SKIP = "skip"
    REPLACE = "replace"
    REPLACE_WHEN_IT_LETS_GO = "replace when it lets go"
    QUEUE = "queue"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """`reason` is what the firing says of it."""

    act: Act
    reason: str


OVERLAP_SAYS: dict[Overlap, str] = {
    Overlap.CONCURRENT: "start beside it",
    Overlap.SKIP: "skip, and say so",
    Overlap.REPLACE: "supersede whatever is open at its next checkpoint, then start",
    Overlap.QUEUE_ONE: "let one wait until it is over, skip further ones",
}
STANDS: dict[Standing, str] = {
    Standing.OVER: "is over",
    Standing.QUEUED: "is queued",
    Standing.RUNNING: "is running",
    Standing.WAITING: "waits",
    Standing.PAUSED: "is paused",
    Standing.ZOMBIE: "is in the hands of a worker that is not heard of any more",
    Standing.READY: "stands ready to take the place of one that has not let go yet",
}
HELD = frozenset({Standing.RUNNING, Standing.ZOMBIE})

REPLACE_ACTS: dict[Standing, Act] = {
    Standing.OVER: Act.START,
    Standing.QUEUED: Act.REPLACE,
    Standing.RUNNING: Act.REPLACE_WHEN_IT_LETS_GO,
    Standing.WAITING: Act.REPLACE,
    Standing.PAUSED: Act.REPLACE,
    Standing.ZOMBIE: Act.REPLACE_WHEN_IT_LETS_GO,
    Standing.READY: Act.SKIP,
}
TABLE: dict[Overlap, dict[Standing, Act]] = {
    Overlap.CONCURRENT: dict.fromkeys(Standing, Act.START),
    Overlap.SKIP: {**dict.fromkeys(Standing, Act.SKIP), Standing.OVER: Act.START},
    Overlap.REPLACE: REPLACE_ACTS,
    Overlap.QUEUE_ONE: {**dict.fromkeys(Standing, Act.QUEUE), Standing.OVER: Act.START},
}


def decide(
    overlap: Overlap,
    standing: Standing,
    *,
    named: str = "",
    one_is_queued: bool = False,
    in_doubt: bool = False,
    waits_for: str = "",
) -> Decided:
    """`named` is the run before; `in_doubt` says that nobody knows what became of a call of it (R5)."""
    act = TABLE[overlap][standing]
    told = f"run {named} {STANDS[standing]}" + (f" for {waits_for}" if waits_for else "")
    if act is Act.QUEUE and one_is_queued:
        return Decided(act=Act.SKIP, reason=f"{told}, and one firing is queued behind it already")
    if act is Act.REPLACE and in_doubt:
        text = f"{told}, and nobody knows what became of a call of it: settle that before it is replaced"
        return Decided(act=Act.SKIP, reason=text)
    match act:
        case Act.START:
            beside = standing is not Standing.OVER
            return Decided(act=act, reason=f"{told}; started beside it" if beside else "")
        case Act.SKIP:
            return Decided(act=act, reason=told)
        case Act.QUEUE:
            return Decided(act=act, reason=f"{told}; starts when it is over")
        case Act.REPLACE:
            return Decided(act=act, reason=f"{told}; it is superseded")
    return Decided(act=act, reason=f"{told}; starts when that is superseded at its next checkpoint")


def decide_all(decisions: Sequence[Decided]) -> Decided:
    """What becomes of a time that would replace several runs: all of them, or none.

    What keeps one from being replaced keeps the time from starting; what one has to let go first,
    the new run waits for.
    """
    for act in (Act.SKIP, Act.REPLACE_WHEN_IT_LETS_GO, Act.REPLACE):
        those = [each for each in decisions if each.act is act]
        if those and act is Act.SKIP:
            return those[0]
        if those:
            return Decided(act=act, reason=_together(decisions))
    return decisions[0] if decisions else Decided(act=Act.START, reason="")


def _together(decisions: Sequence[Decided]) -> str:
    named = "; ".join(each.reason for each in decisions[:NAMED])
    more = len(decisions) - NAMED
    return named if more <= 0 else f"{named}; and so are {more} more"
