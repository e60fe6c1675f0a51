"""The list of decisions: tabs, a filter, live."""

from django.http import HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from approvals.queries import inbox_tabs
from approvals.queries.inbox_tabs import LABELS, Wanted
from approvals.queries.mine import is_for
from approvals.web.inbox_filter import InboxFilter
from runs.queries.clock import db_now
from runs.queries.plans import stored_workflows
from runs.web import HtmxRequest, actor_of, link_to, page_or_part, position_in, unchanged


@require_safe
def index(request: HtmxRequest) -> HttpResponse:
    now, actor = db_now(), actor_of(request)
    tab = request.GET.get("tab", "mine")
    tab = tab if tab in LABELS else "mine"
    version = inbox_tabs.version(actor, tab)
    if same := unchanged(request, version):
        return same
    asked = InboxFilter(request.GET, tab=tab, workflows=stored_workflows())
    valid = asked.is_valid()
    wanted = asked.wanted if valid else Wanted()
    mine = is_for(actor, now=now)
    found = inbox_tabs.page_of(actor, tab, wanted, position_in(request), mine=mine, now=now)
    return page_or_part(
        request,
        "approvals/decision_list.html",
        "approvals/_decision_lists.html",
        status=200 if valid else 422,
        now=now,
        version=version,
        tab=tab,
        tabs=inbox_tabs.tabs(actor, wanted, mine=mine, now=now),
        lines=found.lines,
        filter=asked,
        filtered=wanted not in (Wanted(), Wanted(within=wanted.within)),
        live_url=reverse("approvals:decision_list") + link_to(request),
        tab_url=link_to(request, tab=None, at=None, within=None),
        newer_url=link_to(request, at=found.newer) if found.newer else "",
        older_url=link_to(request, at=found.older) if found.older else "",
    )
