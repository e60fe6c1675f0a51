"""What goes on now and went on in the last day: a part of the first page that is renewed more slowly."""

import logging
from datetime import datetime
from functools import cache, partial
from typing import Any

from django.http import HttpResponse
from django.views.decorators.http import require_safe

from runs.queries import pages_needs
from runs.queries.clock import db_now
from runs.rules.hours import Hours
from runs.rules.policy import Actor
from runs.web import HtmxRequest, actor_of, page_or_part, unchanged

SECONDS = 30
PART = "runs/_now.html"
log = logging.getLogger(__name__)


@require_safe
def index(request: HtmxRequest) -> HttpResponse:
    now = db_now()
    if same := unchanged(request, _version(now)):
        return same
    return page_or_part(request, PART, PART, now=now, **shown(actor_of(request), now=now))


def shown(actor: Actor, *, now: datetime) -> dict[str, Any]:
    """All that the part says; hours are counted only where they are shown, and fail alone."""
    return {
        "now_version": _version(now),
        "counts": pages_needs.counts_now(actor),
        "hours": cache(partial(_hours, actor, now=now)),
        "finished": pages_needs.just_finished(actor),
    }


def _version(now: datetime) -> str:
    """A reader who asks earlier has what there is: it is counted anew every 30 seconds."""
    return f"{int(now.timestamp()) // SECONDS}"


def _hours(actor: Actor, *, now: datetime) -> Hours | None:
    try:
        return pages_needs.hours_until(actor, now=now)
    except Exception:
        log.exception("now.hours_failed")
        return None
