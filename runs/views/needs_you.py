"""The first page: what needs a person now, what is at risk, what goes on, what has ended."""

from django.http import HttpResponse
from django.views.decorators.http import require_safe

from runs.queries import pages_needs
from runs.queries.clock import db_now
from runs.views import now as now_page
from runs.web import HtmxRequest, actor_of, page_or_part, unchanged
from runs.web.needs import needs


@require_safe
def index(request: HtmxRequest) -> HttpResponse:
    now, actor = db_now(), actor_of(request)
    found = needs(actor)
    version = f"{pages_needs.version_of()}-{found.version}"
    if same := unchanged(request, version):
        return same
    shown = now_page.shown(actor, now=now)
    return page_or_part(
        request,
        "runs/needs_you.html",
        "runs/_needs.html",
        now=now,
        version=version,
        needs=found,
        at_risk=pages_needs.at_risk(actor),
        first_visit=not (shown["finished"] or any(shown["counts"].values())),
        **shown,
    )
