"""Maintenance windows: when one is open, until when, and what is refused of one."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol
from zoneinfo import ZoneInfo, available_timezones

from runs.rules.schedules import cron_error
from runs.rules.wall_clock import DstPolicy, due_by_cron

LONGEST = timedelta(days=31)
LONGEST_BECAUSE = 200


class Window(Protocol):
    """What is stored of one."""

    starts_at: datetime
    ends_at: datetime | None
    cron: str
    zone: str
    lasts: float | None
    tag: str
    monitor_id: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowWish:
    """Once from `starts_at` to `ends_at`; or, by `cron`, `lasts` seconds each time from then on."""

    because: str
    starts_at: datetime
    ends_at: datetime | None = None
    cron: str = ""
    zone: str = "UTC"
    lasts: float | None = None
    monitor_id: int | None = None
    tag: str = ""


def open_until(window: Window, *, at: datetime) -> datetime | None:
    """When the stretch ends in which `at` lies; None where it lies in none."""
    if at < window.starts_at or (window.ends_at is not None and at >= window.ends_at):
        return None
    if not window.cron:
        return window.ends_at
    lasts = timedelta(seconds=window.lasts or 0)
    began = due_by_cron(
        window.cron, zone=ZoneInfo(window.zone), dst=DstPolicy.ONCE, after=at - lasts
    )
    first = next((each.at for each in began if each.fires), None)
    if first is None or first > at or first < window.starts_at:
        return None
    # The next time may come before this one is over: then they are one stretch.
    end = first + lasts
    return min(end, window.ends_at) if window.ends_at else end


def is_for(window: Window, *, monitor_id: int, tags: Sequence[str]) -> bool:
    if window.monitor_id is not None:
        return window.monitor_id == monitor_id
    return not window.tag or window.tag in tags


def refusals(wish: WindowWish) -> dict[str, str]:
    """What is wrong with it, by field."""
    errors = _stretch(wish)
    if not wish.because.strip() or len(wish.because) > LONGEST_BECAUSE or "\x00" in wish.because:
        errors["because"] = f"Say why, in at most {LONGEST_BECAUSE} characters."
    if wish.zone not in available_timezones():
        errors["zone"] = f"There is no time zone {wish.zone!r}; write it like Europe/Berlin."
    if wish.monitor_id is not None and wish.tag:
        errors["tag"] = "Say either a monitor or a tag."
    return errors


def _stretch(wish: WindowWish) -> dict[str, str]:
    if wish.ends_at is not None and wish.ends_at <= wish.starts_at:
        return {"ends_at": "It has to end after it begins."}
    if not wish.cron:
        if wish.ends_at is None or wish.ends_at - wish.starts_at > LONGEST:
            return {"ends_at": "Say when it ends, at most 31 days later."}
        return {} if wish.lasts is None else {"lasts": "Only what repeats lasts a time."}
    if wrong := cron_error(wish.cron):
        return {"cron": wrong}
    if wish.lasts is None or not 0 < wish.lasts <= LONGEST.total_seconds():
        return {"lasts": "Say how long it lasts each time, at most 31 days."}
    return {}
