"""The list of decisions, live."""

from typing import Any

from django.http import HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from approvals.queries import inbox
from runs.queries.clock import db_now
from runs.web import HtmxRequest, actor_of, link_to, page_or_part, position_in, unchanged


@require_safe
def index(request: HtmxRequest) -> HttpResponse:
    now, actor = db_now(), actor_of(request)
    version = inbox.version_of(actor)
    if same := unchanged(request, version):
        return same
    lists: dict[str, inbox.Lines] = {
        "yours": inbox.yours(actor, position_in(request, "yours")),
        "others": inbox.others(actor, position_in(request, "others")),
        "decided": inbox.decided(actor, position_in(request, "decided"), now=now),
    }
    return page_or_part(
        request,
        "approvals/decision_list.html",
        "approvals/_decision_lists.html",
        now=now,
        version=version,
        live_url=reverse("approvals:decision_list") + link_to(request),
        **_linked(request, lists),
    )


def _linked(request: HtmxRequest, lists: dict[str, inbox.Lines]) -> dict[str, Any]:
    """Each list with the addresses of its neighbouring parts."""
    return {
        name: {
            "lines": found.lines,
            "newer_url": link_to(request, **{name: found.newer}) if found.newer else "",
            "older_url": link_to(request, **{name: found.older}) if found.older else "",
        }
        for name, found in lists.items()
    }
