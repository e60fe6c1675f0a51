"""Schedules: the list, and the page of one with its firings."""

from django.http import Http404, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from runs.queries import pages_schedules
from runs.rules.policy import Verb, may
from runs.web import (
    HtmxRequest,
    actor_of,
    link_to,
    page_or_part,
    position_in,
    unchanged,
)

LIST, LISTED = "runs/schedule_list.html", "runs/_schedules.html"


@require_safe
def index(request: HtmxRequest) -> HttpResponse:
    actor = actor_of(request)
    page = pages_schedules.schedules_page(actor)
    if same := unchanged(request, page.version):
        return same
    live_url, may_operate = reverse("runs:schedule_list"), may(actor, Verb.OPERATE)
    return page_or_part(
        request, LIST, LISTED, page=page, live_url=live_url, may_operate=may_operate
    )


@require_safe
def show(request: HtmxRequest, schedule_id: int) -> HttpResponse:
    actor = actor_of(request)
    row = pages_schedules.one_row(actor, schedule_id)
    if row is None:
        raise Http404
    fired = pages_schedules.firings_page(row.schedule, position_in(request))
    return page_or_part(
        request,
        "runs/schedule_show.html",
        "runs/schedule_show.html",
        row=row,
        firings=fired.rows,
        newer_url=link_to(request, at=fired.newer) if fired.newer else "",
        older_url=link_to(request, at=fired.older) if fired.older else "",
        may_operate=may(actor, Verb.OPERATE),
    )
