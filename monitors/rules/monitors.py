"""A monitor as somebody asks for it, and what is refused of it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from zoneinfo import available_timezones

from monitors.rules.addresses import SLUG
from monitors.rules.filters import IN_ORDER, LONGEST_LIST, Filters
from monitors.rules.received import next_by_cron
from monitors.rules.states import MonitorKind
from runs.rules import canonical
from runs.rules.refusals import FieldErrors
from runs.rules.schedules import cron_error

DAY = 24 * 3600.0
SHORTEST, LONGEST = 1.0, 366 * DAY
LONGEST_NAME, LONGEST_ABOUT, LONGEST_TAG, LONGEST_WORD = 200, 10_000, 40, 100
LONGEST_NOTE = 500
MOST_TAGS = 10
# What a monitor has that a ping itself made, as those of healthchecks do.
PROVIDED_PERIOD, PROVIDED_GRACE = DAY, 3600.0


class MonitorRefused(FieldErrors):
    """A monitor that would not work; `errors` has one sentence a field."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorWish:
    """Nothing of it is believed before `refusals`. Durations are seconds."""

    name: str = ""
    slug: str = ""
    about: str = ""
    kind: str = MonitorKind.OUTSIDE.value
    subject: str = ""
    tags: Sequence[str] = ()
    public: bool = False
    period: float | None = None
    cron: str = ""
    zone: str = "UTC"
    grace: float = PROVIDED_GRACE
    longest: float | None = None
    late_start: float | None = None
    progress_limit: float | None = None
    post_only: bool = False
    manual_resume: bool = False
    filters: Filters = field(default_factory=Filters)

    def columns(self) -> dict[str, Any]:
        """Call it only on a wish that nothing is refused of."""
        return {
            "name": self.name.strip(),
            "slug": self.slug,
            "about": self.about,
            "kind": self.kind,
            "subject": self.subject,
            "tags": " ".join(dict.fromkeys(self.tags)),
            "public": self.public,
            "period": self.period,
            "cron": self.cron,
            "zone": self.zone,
            "grace": self.grace,
            "longest": self.longest,
            "late_start": self.late_start,
            "progress_limit": self.progress_limit,
            "post_only": self.post_only,
            "manual_resume": self.manual_resume,
            "filters": canonical.dumps(self.filters.to_json()),
            "plain": not self.cron and not self.filters.to_json(),
        }


def refusals(wish: MonitorWish, *, now: datetime) -> dict[str, str]:
    """What is wrong with it, by field."""
    errors = {**_identity(wish), **_timing(wish, now), **_limits(wish), **_words(wish.filters)}
    if wish.kind not in list(MonitorKind):
        errors["kind"] = f"One of {', '.join(MonitorKind)}."
    return errors


def _identity(wish: MonitorWish) -> dict[str, str]:
    errors = {}
    outside = wish.kind == MonitorKind.OUTSIDE
    if outside and not wish.name.strip():
        errors["name"] = "Say what is watched, such as Nightly backup."
    if len(wish.name) > LONGEST_NAME or "\x00" in wish.name:
        errors["name"] = f"At most {LONGEST_NAME} characters."
    if wish.slug and not SLUG.fullmatch(wish.slug):
        errors["slug"] = "Small letters, digits, - and _ such as nightly-backup."
    if len(wish.about) > LONGEST_ABOUT or "\x00" in wish.about:
        errors["about"] = f"At most {LONGEST_ABOUT} characters."
    bad = [tag for tag in wish.tags if not tag.isprintable() or tag != "".join(tag.split())]
    if bad or len(wish.tags) > MOST_TAGS or any(len(tag) > LONGEST_TAG for tag in wish.tags):
        errors["tags"] = f"At most {MOST_TAGS} words of at most {LONGEST_TAG} characters."
    return errors


def _timing(wish: MonitorWish, now: datetime) -> dict[str, str]:
    if wish.zone not in available_timezones():
        return {"zone": f"There is no time zone {wish.zone!r}; write it like Europe/Berlin."}
    if wish.cron and wish.period is not None:
        return {"cron": "Say either a period or a cron expression."}
    if wish.cron:
        if wrong := cron_error(wish.cron):
            return {"cron": wrong}
        if next_by_cron(wish.cron, wish.zone, after=now) is None:
            return {"cron": "It would never be due."}
        return {}
    if wish.kind == MonitorKind.OUTSIDE and wish.period is None:
        return {"period": "Say how often it pings, or a cron expression."}
    return _span("period", wish.period, least=SHORTEST)


def _limits(wish: MonitorWish) -> dict[str, str]:
    return {
        **_span("grace", wish.grace, least=0),
        **_span("longest", wish.longest, least=SHORTEST),
        **_span("late_start", wish.late_start, least=0),
        **_span("progress_limit", wish.progress_limit, least=SHORTEST),
    }


def _span(name: str, seconds: float | None, *, least: float) -> dict[str, str]:
    # Written so that NaN, which compares with nothing, is refused as well.
    if seconds is None or least <= seconds <= LONGEST:
        return {}
    return {name: f"Between {least:g} second and 366 days."}


def _words(filters: Filters) -> dict[str, str]:
    words = [word for kind in IN_ORDER for word in filters.words(kind)]
    if len(words) > LONGEST_LIST or any(not 0 < len(word) <= LONGEST_WORD for word in words):
        return {
            "filters": f"At most {LONGEST_LIST} words, none empty or longer than {LONGEST_WORD}."
        }
    if bool(words) != (filters.subject or filters.body):
        return {"filters": "Say both the words and where to look for them: subject, body."}
    return {}
