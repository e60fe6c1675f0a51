"""What a schedule says: when it is due, in which words, and what is refused of it."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import islice
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

from cronsim import CronSim, CronSimError

from runs.definition.workflow import Heartbeat
from runs.rules.catching_up import CatchUp
from runs.rules.overlap import Overlap
from runs.rules.refusals import FieldErrors
from runs.rules.wall_clock import DstPolicy, Due, due_by_cron, is_fixed
from runs.rules.words import span

PREVIEWED = 5
SHORTEST, LONGEST = timedelta(seconds=1), timedelta(days=366)
MOST_JITTER = timedelta(hours=1)
LONGEST_WINDOW = timedelta(days=31)
LONGEST_NAME = LONGEST_CRON = 200
# So many due times in a row that came to nothing are an incident.
STREAK = 3
NO_HEARTBEAT = (
    "{workflow} declares no heartbeat with a grace, so nobody would learn that a run of it has "
    "fallen silent. Write heartbeat = Heartbeat(every=..., grace=...) in the workflow."
)


class FiringState(StrEnum):
    """What became of one nominal time."""

    STARTED = "started"
    REPLACED = "replaced"
    QUEUED = "queued"
    SKIPPED = "skipped"
    MISSED = "missed"
    REFUSED = "refused"


class ScheduleRefused(FieldErrors):
    """A schedule that would not work; `errors` has one sentence a field."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """When: a cron expression in a zone, or an interval counted from `anchor`."""

    cron: str = ""
    every: timedelta | None = None
    zone: str = "UTC"
    dst: DstPolicy = DstPolicy.ONCE
    jitter: timedelta = timedelta(0)
    anchor: datetime
    ends: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """A schedule as somebody asks for it; nothing of it is believed before `refusals`."""

    slug: str
    workflow: str
    overlap: str
    name: str = ""
    version: int | None = None
    cron: str = ""
    every: float | None = None
    zone: str = "UTC"
    dst: str = DstPolicy.ONCE.value
    catch_up: str = CatchUp.LATEST.value
    window: float = 0
    jitter: float = 0
    ends: datetime | None = None
    data: Mapping[str, Any] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)

    def timing(self, *, anchor: datetime) -> Timing:
        """Call it only on a wish that nothing is refused of."""
        return Timing(
            cron=self.cron,
            every=timedelta(seconds=self.every) if self.every else None,
            zone=self.zone,
            dst=DstPolicy(self.dst),
            jitter=timedelta(seconds=self.jitter),
            anchor=anchor,
            ends=self.ends,
        )


def next_times(timing: Timing, *, after: datetime) -> Iterator[Due]:
    """The nominal times later than `after`, until the end date."""
    every = _by_cron(timing, after) if timing.cron else _by_interval(timing, after)
    for due in every:
        if timing.ends is not None and due.at > timing.ends:
            return
        yield due


def preview(timing: Timing, *, after: datetime) -> list[Due]:
    """The next five."""
    return list(islice(next_times(timing, after=after), PREVIEWED))


def _by_cron(timing: Timing, after: datetime) -> Iterator[Due]:
    return due_by_cron(timing.cron, zone=ZoneInfo(timing.zone), dst=timing.dst, after=after)


def _by_interval(timing: Timing, after: datetime) -> Iterator[Due]:
    every = timing.every or LONGEST
    number = max((after - timing.anchor) // every + 1, 1)
    while True:
        yield Due(at=timing.anchor + number * every)
        number += 1


def jitter_of(schedule_id: int, nominal: datetime, *, most: timedelta) -> timedelta:
    """How much later than its nominal time it is due: always the same for the same time."""
    if not most:
        return timedelta(0)
    text = f"{schedule_id} {int(nominal.timestamp())}"
    share = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") / 2**64
    return timedelta(seconds=int(share * most.total_seconds()))


def in_words(timing: Timing) -> str:
    """For people: the times, the zone, and whether a change of clocks moves them."""
    if not timing.cron:
        return f"every {span(timing.every or LONGEST)}"
    said = CronSim(timing.cron, timing.anchor.replace(tzinfo=None)).explain()
    moved = is_fixed(timing.cron) and timing.zone != "UTC"
    return f"{said}, {timing.zone}" + (f", clock changes: {timing.dst.value}" if moved else "")


def refusals(
    wish: Wish, *, heartbeat: Heartbeat | None, now: datetime, known: bool = True
) -> dict[str, str]:
    """What is wrong with it, by field. `known` is whether the workflow's code is here."""
    errors = {**_identity(wish), **timing_refusals(wish), **_policies(wish)}
    if not known:
        errors["workflow"] = f"No workflow {wish.workflow!r} with that version is registered here."
    elif heartbeat is None:
        errors["workflow"] = NO_HEARTBEAT.format(workflow=wish.workflow)
    if not errors and not preview(wish.timing(anchor=now), after=now):
        errors["ends" if wish.ends else "cron"] = "It would never be due: no time is left for it."
    return errors


def timing_refusals(wish: Wish) -> dict[str, str]:
    """What is wrong with when it is due."""
    errors = _times(wish)
    if wish.dst not in list(DstPolicy):
        errors["dst"] = f"One of {', '.join(DstPolicy)}."
    return errors


def _identity(wish: Wish) -> dict[str, str]:
    allowed = set("abcdefghijklmnopqrstuvwxyz0123456789-_")
    if not wish.slug or len(wish.slug) > 60 or not set(wish.slug) <= allowed:
        return {"slug": "1 to 60 small letters, digits, - and _ such as nightly-sync."}
    if len(wish.name) > LONGEST_NAME:
        return {"name": f"At most {LONGEST_NAME} characters."}
    if not isinstance(wish.labels, Mapping) or not all(
        isinstance(said, str) for said in wish.labels.values()
    ):
        return {"labels": 'An object of names and texts, such as {"team": "books"}.'}
    return {}


def _times(wish: Wish) -> dict[str, str]:
    errors = {}
    if bool(wish.cron) == bool(wish.every):
        errors["cron"] = "Say either a cron expression or an interval."
    elif wish.cron and (wrong := cron_error(wish.cron)):
        errors["cron"] = wrong
    elif wish.every and not SHORTEST.total_seconds() <= wish.every <= LONGEST.total_seconds():
        errors["every"] = f"Between {span(SHORTEST)} and {span(LONGEST)}."
    if wish.zone not in available_timezones():
        errors["zone"] = f"There is no time zone {wish.zone!r}; write it like Europe/Berlin."
    if not 0 <= wish.jitter <= MOST_JITTER.total_seconds():
        errors["jitter"] = f"Between none and {span(MOST_JITTER)}."
    return errors


def cron_error(expression: str) -> str:
    """Why it cannot be understood, with the field it is in; empty when it can."""
    if len(expression) > LONGEST_CRON:
        return f"At most {LONGEST_CRON} characters."
    if len(expression.split()) != 5:
        return "Five fields: minute, hour, day of month, month, day of week, such as 0 2 * * *."
    try:
        CronSim(expression, datetime(2026, 1, 1))  # noqa: DTZ001 - wall clocks have no zone
    except CronSimError as wrong:
        return f"{wrong}."
    return ""


def _policies(wish: Wish) -> dict[str, str]:
    errors = {}
    if wish.overlap not in list(Overlap):
        words = ", ".join(Overlap)
        errors["overlap"] = f"Decide what happens while the run before still goes on: {words}."
    if wish.catch_up not in list(CatchUp):
        errors["catch_up"] = f"One of {', '.join(CatchUp)}."
    elif wish.catch_up == CatchUp.ALL and not 0 < wish.window <= LONGEST_WINDOW.total_seconds():
        errors["window"] = (
            f"To catch up on all of them, a window of at most {span(LONGEST_WINDOW)}."
        )
    # Also where it is of no use: infinity and NaN pass for numbers, and are no span of time.
    elif not 0 <= wish.window <= LONGEST_WINDOW.total_seconds():
        errors["window"] = f"Between none and {span(LONGEST_WINDOW)}."
    if wish.dst not in list(DstPolicy):
        errors["dst"] = f"One of {', '.join(DstPolicy)}."
    return errors
