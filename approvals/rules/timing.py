"""What an ask says of time: reminders, who is asked too, when an answer begins to hold."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from runs.rules import canonical


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedAgain:
    """The decision before this one allowed the same, and is too old by now."""

    wait_id: int
    by: str
    at: datetime
    valid_for: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class TimingAsked:
    """As declared, read from the stored text of an ask."""

    remind: tuple[timedelta, ...] = ()
    escalate: timedelta | None = None
    escalate_to: tuple[str, ...] = ()
    not_before: timedelta | None = None
    valid_for: timedelta | None = None
    again: AskedAgain | None = None


def timing_of(text: str) -> TimingAsked:
    ask = canonical.loads(text)
    said: Mapping[str, Any] = ask.get("timing") or {}
    return TimingAsked(
        remind=tuple(timedelta(seconds=each) for each in said.get("remind", ())),
        escalate=_length(said.get("escalate")),
        escalate_to=tuple(said.get("escalate_to", ())),
        not_before=_length(said.get("not_before")),
        valid_for=_length(said.get("valid_for")),
        again=_again(ask.get("asked_again")),
    )


def _again(said: Mapping[str, Any] | None) -> AskedAgain | None:
    if not said:
        return None
    return AskedAgain(
        wait_id=said["wait"],
        by=said["by"],
        at=datetime.fromisoformat(said["at"]),
        valid_for=timedelta(seconds=said["valid_for"]),
    )


def _length(seconds: float | None) -> timedelta | None:
    return None if seconds is None else timedelta(seconds=seconds)
