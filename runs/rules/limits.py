"""Limits that end something, and what is recorded when one is breached."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from runs.rules import canonical
from runs.rules.chain import Draft

BREACHED = "limit.breached"


class Limit(StrEnum):
    DEADLINE = "run deadline"
    STEP = "step timeout"
    CALL = "call timeout"
    WAIT = "wait expiry"
    CRASHES = "crash budget"


class Cause(StrEnum):
    """Who was slow: something outside, somebody who was asked, or the workflow as it is written."""

    DEPENDENCY = "dependency"
    PERSON = "person"
    DESIGN = "design"


@dataclass(frozen=True, slots=True, kw_only=True)
class Breach:
    """`elapsed` and `allowed` are seconds, or crashes; `trigger` names what came up against it."""

    limit: Limit
    trigger: str
    elapsed: float
    allowed: float
    cause: Cause

    def event(self, *, step: str, then: str) -> Draft:
        """The audit event; `then` is the state that the run is in after it."""
        body = {
            "limit": self.limit.value,
            "trigger": self.trigger,
            "elapsed": round(self.elapsed, 3),
            "allowed": round(self.allowed, 3),
            "cause": self.cause.value,
            "then": then,
        }
        return Draft(kind=BREACHED, step=step, body=canonical.dumps(body))


def sentence_of(body: dict[str, Any]) -> str:
    """A breach as its event tells of it, for people."""
    used, allowed = _amount(body, "elapsed"), _amount(body, "allowed")
    return (
        f"{str(body['limit']).capitalize()}: {body['trigger']} took {used} of {allowed} allowed. "
        f"Cause: {body['cause']}. Then: {body['then']}."
    )


def _amount(body: dict[str, Any], name: str) -> str:
    value = float(body[name])
    return f"{value:.0f} crashes" if body["limit"] == Limit.CRASHES else length(value)


def length(seconds: float) -> str:
    """A length of time with its two largest units: 1 h 30 min."""
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds % 1 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    units = (("d", days), ("h", hours), ("min", minutes), ("s", rest))
    first = next(at for at, (_, amount) in enumerate(units) if amount)
    return " ".join(f"{amount} {unit}" for unit, amount in units[first : first + 2] if amount)


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A stretch of a run's life; `until` is empty while it lasts."""

    since: datetime
    until: datetime | None


def covered(spans: Iterable[Span], *, since: datetime, now: datetime) -> timedelta:
    """How much of the time between `since` and `now` lies in any of these stretches."""
    total, reached = timedelta(0), since
    for span in sorted(spans, key=lambda each: each.since):
        begins, ends = max(span.since, reached), min(span.until or now, now)
        if ends > begins:
            total, reached = total + (ends - begins), ends
    return total


@dataclass(frozen=True, slots=True, kw_only=True)
class Deadline:
    """`used` is the time since the start that was spent neither waiting for people nor paused (R9)."""

    allowed: timedelta
    used: timedelta
    outside: timedelta

    def __str__(self) -> str:
        used, allowed = self.used.total_seconds(), self.allowed.total_seconds()
        return f"{length(used)} of {length(allowed)} used"

    @property
    def left(self) -> timedelta:
        return self.allowed - self.used

    @property
    def is_over(self) -> bool:
        return self.left <= timedelta(0)

    def breach(self) -> Breach:
        """Whoever took the greater part of the time is the cause."""
        mostly_outside = self.outside * 2 > self.used
        return Breach(
            limit=Limit.DEADLINE,
            trigger="the run",
            elapsed=self.used.total_seconds(),
            allowed=self.allowed.total_seconds(),
            cause=Cause.DEPENDENCY if mostly_outside else Cause.DESIGN,
        )
