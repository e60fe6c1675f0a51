"""The page of a decision as it was shown to whoever answered."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from approvals.queries.recorded import recorded
from approvals.views.refusals import refusing
from runs.queries.clock import db_now
from runs.web import HtmxRequest, actor_of


@require_safe
@refusing
def show(request: HtmxRequest, decision_id: int, record_id: int) -> HttpResponse:
    found = recorded(actor_of(request), decision_id, record_id)
    context = {"now": db_now(), "kept": found, "sheet": found.sheet, "decision": found.decision}
    return render(request, "approvals/record_show.html", context)
