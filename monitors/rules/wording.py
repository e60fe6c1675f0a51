"""The titles of messages about incidents."""

from datetime import datetime, timedelta

from monitors.rules.flapping import STEADY_AFTER, TIMES, WITHIN
from monitors.rules.incidents import title_of
from runs.rules.words import span


def flapping_title(sentence: str) -> str:
    """The last message until it has been steady for a while."""
    return (
        f"Flapping, {TIMES} times in {span(WITHIN)}: {sentence.rstrip('.')}. "
        f"You hear of it again when it has been steady for {span(STEADY_AFTER)}."
    )


def joined_title(sentence: str, *, owner: str) -> str:
    """Something new in what somebody has in hand: whoever it is may not know of this."""
    return f"New in what {owner} has in hand: {sentence}"


def reminder_title(sentence: str, *, affected: int, since: datetime, now: datetime) -> str:
    return f"Still open after {span(now - since)}: {title_of(sentence, affected=affected)}"


def recovered_title(sentence: str, *, affected: int, lasted: timedelta, arrived: bool) -> str:
    """Whoever never got the first message hears that there was one."""
    lost = "" if arrived else " The messages before this one may not have reached you."
    told = title_of(sentence, affected=affected)
    return f"Well again after {span(lasted)}. It was: {told}{lost}"
