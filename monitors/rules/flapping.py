"""Up and down and up again: when it is one unsteady thing, and when it has been steady long enough."""

from collections.abc import Iterable
from datetime import datetime, timedelta

# The third time within half an hour is no news any more.
TIMES = 3
WITHIN = timedelta(minutes=30)
STEADY_AFTER = timedelta(minutes=15)


def flaps(failures: Iterable[datetime], *, now: datetime) -> bool:
    """Whether something that has now gone down did so too often; `failures` include this one."""
    return sum(now - WITHIN <= at <= now for at in failures) >= TIMES


def steady_at(recovered_at: datetime) -> datetime:
    """When what flapped may be called recovered, if it stays up until then."""
    return recovered_at + STEADY_AFTER
