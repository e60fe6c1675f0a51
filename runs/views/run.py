"""One run: how it stands, its timeline, and the tab that is open."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.http import Http404, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from runs.queries import pages_redo, pages_run, pages_tabs
from runs.queries.clock import db_now
from runs.queries.pages_run import RunPage
from runs.rules.payloads import payload_of
from runs.rules.policy import Verb, may
from runs.web import HtmxRequest, actor_of, link_to, page_or_part, position_in, unchanged


@require_safe
def show(request: HtmxRequest, run_id: UUID) -> HttpResponse:
    now = db_now()
    run = pages_run.visible_run(actor_of(request), run_id)
    if run is None:
        raise Http404
    version = pages_run.version_of(run, now=now)
    if same := unchanged(request, version):
        return same
    page = pages_run.run_page(run, now=now)
    tab = request.GET.get("tab", "steps")
    tab = tab if tab in TABS else "steps"
    return page_or_part(
        request,
        "runs/run_show.html",
        "runs/_run.html",
        now=now,
        page=page,
        lineage=pages_redo.lineage_of(actor_of(request), run),
        run=run,
        version=version,
        speed=pages_run.speed_of(run),
        live_url=reverse("runs:run_show", args=[run.pk]) + link_to(request),
        may_operate=may(actor_of(request), Verb.OPERATE),
        tab=tab,
        tab_template=f"runs/_tab_{tab}.html",
        tabs=pages_tabs.tabs_of(run),
        **TABS[tab](request, page),
    )


def _steps(request: HtmxRequest, page: RunPage) -> dict[str, Any]:
    return {}


def _events(request: HtmxRequest, page: RunPage) -> dict[str, Any]:
    visible = may(actor_of(request), Verb.VIEW_PAYLOADS)
    lines, found = pages_tabs.event_lines(page.run, position=position_in(request), visible=visible)
    return {"lines": lines, **_links(request, found)}


def _list(name: str) -> Callable[[HtmxRequest, RunPage], dict[str, Any]]:
    def read(request: HtmxRequest, page: RunPage) -> dict[str, Any]:
        found = pages_tabs.slice_of_tab(page.run, name, position=position_in(request))
        return {"rows": found.rows, **_links(request, found)}

    return read


def _waits(request: HtmxRequest, page: RunPage) -> dict[str, Any]:
    found = pages_tabs.slice_of_tab(page.run, "waits", position=position_in(request))
    return {"rows": pages_tabs.wait_lines(found.rows), **_links(request, found)}


def _input(request: HtmxRequest, page: RunPage) -> dict[str, Any]:
    visible, run = may(actor_of(request), Verb.VIEW_PAYLOADS), page.run
    return {"payload": payload_of(run.input, visible=visible, digest=run.input_digest)}


def _audit(request: HtmxRequest, page: RunPage) -> dict[str, Any]:
    chain = pages_tabs.chain_of(page.run)
    line = payload_of(chain.line or "{}", visible=True, most=16_384)
    return {"chain": chain, "line": line, "may_export": may(actor_of(request), Verb.VIEW_PAYLOADS)}


def _links(request: HtmxRequest, found: Any) -> dict[str, str]:
    return {
        "newer_url": link_to(request, at=found.newer) if found.newer else "",
        "older_url": link_to(request, at=found.older) if found.older else "",
    }


TABS: dict[str, Callable[[HtmxRequest, RunPage], dict[str, Any]]] = {
    "steps": _steps,
    "events": _events,
    "effects": _list("effects"),
    "checkpoints": _list("checkpoints"),
    "waits": _waits,
    "files": _list("files"),
    "input": _input,
    "audit": _audit,
}
