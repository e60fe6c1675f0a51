"""Asking a receiver once more whether a call has happened."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from approvals.engine import asking
from approvals.views.refusals import refusing
from runs.engine.asking import NobodyToAsk
from runs.web import HtmxRequest, actor_of, payload_viewer

NEWS = "What the receiver says is new, so the question is asked anew with it. Read it again."


@require_POST
@payload_viewer
@refusing
def create(request: HtmxRequest, decision_id: int) -> HttpResponse:
    try:
        stands = asking.ask(actor_of(request), decision_id)
    except NobodyToAsk as nobody:
        messages.error(request, str(nobody))
        return redirect("approvals:decision_show", decision_id)
    if stands.pk != decision_id:
        messages.warning(request, NEWS)
    else:
        messages.info(request, "The receiver was asked; its answer changes nothing.")
    return redirect("approvals:decision_show", stands.pk)
