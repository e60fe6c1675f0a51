"""Drills: those under way, the list, the page of one with its matrix, and what is taken away."""

import json
from typing import TYPE_CHECKING
from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from runs.queries import drills
from runs.rules.drill_matrix import grid_of, junit
from runs.rules.drill_report import DrillReport
from runs.rules.policy import Verb, may
from runs.web import HtmxRequest, actor_of, page_or_part, unchanged

if TYPE_CHECKING:
    from runs.models import Drill

LIST, PART = "runs/drill_list.html", "runs/_drills.html"
PAGE, DOCUMENT = "runs/drill_show.html", "runs/drill_document.html"


@require_safe
def index(request: HtmxRequest) -> HttpResponse:
    actor, workflow = actor_of(request), request.GET.get("workflow", "")
    listed = drills.newest_drills(actor, workflow=workflow)
    under_way = drills.under_way(actor, workflow=workflow)
    version = drills.version_of(under_way, listed)
    if same := unchanged(request, version):
        return same
    return page_or_part(
        request,
        LIST,
        PART,
        drills=listed,
        under_way=under_way,
        workflow=workflow,
        version=version,
        may_operate=may(actor, Verb.OPERATE),
        live_url=request.get_full_path(),
    )


@require_safe
def show(request: HtmxRequest, drill_id: UUID) -> HttpResponse:
    drill = _drill(request, drill_id)
    report = DrillReport.from_text(drill.report)
    return page_or_part(request, PAGE, PAGE, drill=drill, report=report, grid=grid_of(report))


@require_safe
def as_json(request: HtmxRequest, drill_id: UUID) -> HttpResponse:
    report = DrillReport.from_text(_drill(request, drill_id).report)
    text = json.dumps(report.as_json(), ensure_ascii=False, indent=2)
    return _file(text, "application/json", f"drill-{drill_id}.json")


@require_safe
def as_junit(request: HtmxRequest, drill_id: UUID) -> HttpResponse:
    report = DrillReport.from_text(_drill(request, drill_id).report)
    return _file(junit(report), "application/xml", f"drill-{drill_id}.xml")


@require_safe
def as_html(request: HtmxRequest, drill_id: UUID) -> HttpResponse:
    drill = _drill(request, drill_id)
    report = DrillReport.from_text(drill.report)
    known = {"drill": drill, "report": report, "grid": grid_of(report)}
    page = render(request, DOCUMENT, known)
    return _file(page.content.decode(), "text/html; charset=utf-8", f"drill-{drill_id}.html")


def _drill(request: HtmxRequest, drill_id: UUID) -> "Drill":
    drill = drills.drill_named(actor_of(request), drill_id)
    if drill is None:
        raise Http404
    return drill


def _file(text: str, kind: str, name: str) -> HttpResponse:
    """Always a download: what a drill found is data, and runs nowhere."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(text, content_type=kind, headers=headers)
