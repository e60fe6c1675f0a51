"""Which of the nominal times that have passed are still started, after nobody looked for a while."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from runs.rules.words import span

# Later than this, somebody was not looking: then catching up is decided by its policy.
ON_TIME = timedelta(seconds=60)


class CatchUp(StrEnum):
    """What is done about the times that passed meanwhile."""

    NONE = "none"
    LATEST = "latest"
    ALL = "all"


CATCH_UP_SAYS: dict[CatchUp, str] = {
    CatchUp.NONE: "times that passed unseen are missed",
    CatchUp.LATEST: "of the times that passed unseen the latest is started",
    CatchUp.ALL: "all times that passed unseen within the window are started",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Passed:
    """A nominal time that is over; `latest` when no later one is."""

    due_at: datetime
    latest: bool


def why_missed(passed: Passed, *, policy: CatchUp, window: timedelta, now: datetime) -> str:
    """The reason it is not started any more; empty when it is."""
    late = now - passed.due_at
    if late <= ON_TIME:
        return ""
    seen = f"nobody looked until {span(late)} later"
    if policy is CatchUp.NONE:
        return f"{seen}; nothing is caught up"
    if policy is CatchUp.LATEST:
        return "" if passed.latest else f"{seen}; only the latest time is caught up"
    if late > window:
        return f"{seen}; only the last {span(window)} are caught up"
    return ""
