"""When a failed step is tried again, and when it no longer is."""

from datetime import timedelta

from runs.definition.step import Retry


def delay(retry: Retry, attempt: int, *, random: float) -> timedelta:
    """How long to wait after this failed attempt (the first is 1); `random` in [0, 1) spreads the crowd."""
    seconds = _grown(retry, attempt)
    spread = seconds * retry.jitter * random
    return timedelta(seconds=seconds - spread)


def _grown(retry: Retry, attempt: int) -> float:
    longest = retry.maximum.total_seconds()
    try:
        grown = retry.base.total_seconds() * retry.factor ** (attempt - 1)
    except OverflowError:
        return longest
    return min(grown, longest)


def exhausted(retry: Retry, attempt: int) -> bool:
    """Whether this failed attempt was the last one allowed."""
    return attempt >= retry.attempts


def gives_up(retry: Retry, error: BaseException) -> bool:
    """Whether this error is one that trying again cannot mend."""
    return isinstance(error, tuple(retry.give_up_on))
