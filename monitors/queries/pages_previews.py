"""What a monitor that nobody has stored would expect, and a stored one as somebody would ask for it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from monitors.models import Monitor
from monitors.rules.expected import PREVIEWED, expectation, next_expected
from monitors.rules.filters import filters_from
from monitors.rules.monitors import MonitorRefused, MonitorWish, refusals
from runs.rules import canonical


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    words: str
    next: Sequence[datetime]


def preview_of(wish: MonitorWish, *, now: datetime) -> Preview:
    """If its last ping came now. Raises MonitorRefused."""
    if errors := refusals(wish, now=now):
        raise MonitorRefused(errors)
    coming = islice(next_expected(wish, after=now), PREVIEWED)
    return Preview(words=expectation(wish, now=now), next=list(coming))


def wish_of(monitor: Monitor) -> MonitorWish:
    same = {
        name: getattr(monitor, name)
        for name in (
            "name",
            "slug",
            "about",
            "kind",
            "subject",
            "public",
            "period",
            "cron",
            "zone",
            "grace",
            "longest",
            "late_start",
            "progress_limit",
            "post_only",
            "manual_resume",
        )
    }
    filters = filters_from(canonical.loads(monitor.filters))
    return MonitorWish(**same, tags=tuple(monitor.tags.split()), filters=filters)
