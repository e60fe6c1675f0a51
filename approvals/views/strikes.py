"""Striking single calls off a list, and putting them back."""

from django.http import HttpResponse, HttpResponseBadRequest, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from approvals.ledger import striking
from approvals.queries.finding import ordinals_that_name
from approvals.queries.visible import visible_decision
from approvals.views import decision
from approvals.views.refusals import refusing
from runs.rules.policy import Verb, may
from runs.web import HtmxRequest, actor_of

MATCHING = "matching"


@require_POST
@refusing
def create(request: HtmxRequest, decision_id: int) -> HttpResponse:
    """`strike` or `restore` names one call, or all that match the text `q`."""
    visible_decision(actor_of(request), decision_id)
    struck = "strike" in request.POST
    named = request.POST.get("strike" if struck else "restore", "")
    ordinals = _ordinals(request, decision_id, named)
    seen = request.POST.get("seen", "")
    if ordinals is None or not seen.isascii() or not seen.isdigit():
        return HttpResponseBadRequest("That names no call of this list.")
    try:
        striking.strike(
            actor_of(request),
            decision_id,
            ordinals=ordinals,
            struck=struck,
            expected_version=int(seen),
        )
    except (striking.NoSuchCall, striking.NothingToStrike) as refused:
        return HttpResponseBadRequest(str(refused))
    return _shown_again(request, decision_id, named)


def _ordinals(request: HtmxRequest, decision_id: int, named: str) -> list[int] | None:
    if named == MATCHING:
        actor = actor_of(request)
        text = request.POST.get("q", "").strip()[:200]
        found = visible_decision(actor, decision_id)
        if not text or found.kind != "plan":
            return None
        return ordinals_that_name(found, text, visible=may(actor, Verb.VIEW_PAYLOADS))
    return [int(named)] if named.isascii() and named.isdigit() else None


def _shown_again(request: HtmxRequest, decision_id: int, named: str) -> HttpResponse:
    """The same part of the list, as it is now."""
    here = QueryDict(request.POST.get("here", "").removeprefix("?"))
    if request.htmx:
        request.GET = here
        return decision.shown(request, decision_id)
    place = f"#call-{named}" if named != MATCHING else "#calls"
    url = reverse("approvals:decision_show", args=[decision_id])
    return redirect(f"{url}?{here.urlencode()}{place}")
