"""Monitors: the list, the page of one, and what came in from it."""

from typing import Any

from django.http import Http404, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from monitors.forms import MuteForm, PauseForm
from monitors.queries import pages_monitor, pages_monitors
from monitors.queries.pages_monitor import RANGES, MonitorPage
from monitors.rules.addresses import ping_path
from monitors.rules.states import MonitorKind
from runs.conf import site
from runs.rules.policy import Verb, may
from runs.web import HtmxRequest, actor_of, link_to, page_or_part, position_in, unchanged

EVENTS = ("beats", "misses", "changes")


@require_safe
def index(request: HtmxRequest) -> HttpResponse:
    actor = actor_of(request)
    kind, tag = request.GET.get("kind", ""), request.GET.get("tag", "")[:40]
    kind = kind if kind in list(MonitorKind) else ""
    page = pages_monitors.monitors_page(actor, kind=kind, tag=tag)
    if same := unchanged(request, page.version):
        return same
    return page_or_part(
        request,
        "monitors/monitor_list.html",
        "monitors/_monitors.html",
        page=page,
        kind=kind,
        kinds=list(MonitorKind),
        tag=tag,
        tagged=sum(tag in row.monitor.tags.split() for row in page.rows),
        mute_form=MuteForm(auto_id="mute_%s"),
        site=site(),
        live_url=reverse("monitors:monitor_list") + link_to(request),
        may_operate=may(actor, Verb.OPERATE),
    )


@require_safe
def show(request: HtmxRequest, monitor_id: int) -> HttpResponse:
    actor = actor_of(request)
    monitor = pages_monitor.one_monitor(actor, monitor_id)
    if monitor is None:
        raise Http404
    range_ = RANGES.get(request.GET.get("range", ""), RANGES["24h"])
    page = pages_monitor.monitor_page(actor, monitor, range_=range_)
    if same := unchanged(request, page.version):
        return same
    return page_or_part(
        request,
        "monitors/monitor_show.html",
        "monitors/_monitor_status.html",
        page=page,
        monitor=page.monitor,
        ranges=RANGES.values(),
        address=f"{site()}{ping_path(monitor.code)}",
        is_outside=monitor.kind == MonitorKind.OUTSIDE,
        pause_form=PauseForm(),
        mute_form=MuteForm(auto_id="mute_%s"),
        live_url=reverse("monitors:monitor_show", args=[monitor_id]) + link_to(request),
        may_operate=may(actor, Verb.OPERATE),
        **_events(request, page),
    )


def _events(request: HtmxRequest, page: MonitorPage) -> dict[str, Any]:
    """Beats, misses or changes, a slice of them."""
    which = request.GET.get("events", "")
    which = which if which in EVENTS else "beats"
    at = position_in(request)
    if which == "beats":
        found: Any = pages_monitor.beats_page(page.monitor, at)
    else:
        found = pages_monitor.changes_page(page.monitor, at, misses=which == "misses")
    return {
        "which": which,
        "which_ones": EVENTS,
        "events": found.rows,
        "newer_url": link_to(request, at=found.newer, events=which) if found.newer else "",
        "older_url": link_to(request, at=found.older, events=which) if found.older else "",
    }
