"""The audit of a tenant: who did what beside the runs, and whether its chain holds together."""

import json

from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from runs.queries import naming, pages_acts
from runs.queries.clock import db_now
from runs.queries.pages_acts import Wanted
from runs.web import HtmxRequest, actor_of, administrator, link_to, position_in


@require_safe
@administrator
def index(request: HtmxRequest) -> HttpResponse:
    actor = actor_of(request)
    pk, slug, every = _tenant(request)
    wanted = _wanted(request)
    page = pages_acts.acts_of(actor, pk, wanted, position=position_in(request))
    shown = {
        "now": db_now(),
        "page": page,
        "wanted": wanted,
        "most": pages_acts.MOST_IN_A_SHEET,
        "tenant": slug,
        "tenants": every,
        "newer_url": link_to(request, at=page.found.newer) if page.found.newer else "",
        "older_url": link_to(request, at=page.found.older) if page.found.older else "",
    }
    return render(request, "runs/act_list.html", shown)


@require_safe
@administrator
def export(request: HtmxRequest) -> StreamingHttpResponse:
    actor = actor_of(request)
    pk, slug, _ = _tenant(request)
    events = pages_acts.lines(actor, pk)
    lines = (json.dumps(one) + "\n" for one in events)
    response = StreamingHttpResponse(lines, content_type="application/x-ndjson")
    response.headers["Content-Disposition"] = f'attachment; filename="audit-{slug}.jsonl"'
    return response


@require_safe
@administrator
def as_sheet(request: HtmxRequest) -> StreamingHttpResponse:
    """What the filter lets through, for a spreadsheet."""
    pk, slug, _ = _tenant(request)
    lines = pages_acts.sheet(
        actor_of(request), pk, _wanted(request), most=pages_acts.MOST_IN_A_SHEET
    )
    response = StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8")
    response.headers["Content-Disposition"] = f'attachment; filename="audit-{slug}.csv"'
    return response


def _wanted(request: HtmxRequest) -> Wanted:
    return Wanted(by=_part(request, "by", most=200), what=_part(request, "what", most=60))


def _part(request: HtmxRequest, name: str, *, most: int) -> str:
    """A part of a name that is looked for."""
    return request.GET.get(name, "").strip()[:most]


def _tenant(request: HtmxRequest) -> tuple[int, str, list[str]]:
    """The tenant that is asked for, else the first of the actor's."""
    known = naming.tenants_seen(actor_of(request))
    wanted = request.GET.get("tenant") or None
    for pk, slug in known.items():
        if wanted in (None, slug):
            return pk, slug, list(known.values())
    raise Http404
