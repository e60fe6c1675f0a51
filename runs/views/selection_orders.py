"""The order to do something to runs that were chosen together, and to leave the rest of them."""

from dataclasses import asdict

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from runs.ledger import selecting
from runs.views.selections import form_for, found, page
from runs.web import HtmxRequest, actor_of, operator


@require_POST
@operator
def create(request: HtmxRequest, selection_id: int) -> HttpResponse:
    selection = found(request, selection_id)
    form = form_for(selection, request.POST)
    if not form.is_valid():
        return page(request, selection, form, status=422)
    because, label = form.cleaned_data["because"], form.cleaned_data.get("label")
    given = asdict(label) if label else {}
    try:
        selecting.begin(actor_of(request), selection_id, because=because, given=given)
    except selecting.NotAtThisPoint as refused:
        back = reverse("runs:selection_show", args=[selection_id])
        told = {"because": str(refused), "back_url": back}
        return render(request, "409.html", told, status=409)
    return redirect("runs:selection_show", selection_id)


@require_POST
@operator
def stop(request: HtmxRequest, selection_id: int) -> HttpResponse:
    found(request, selection_id)
    try:
        selecting.stop(actor_of(request), selection_id)
        messages.success(request, "Stopped. What was done stays; the rest is left as it was.")
    except selecting.NotAtThisPoint as refused:
        messages.info(request, str(refused))
    return redirect("runs:selection_show", selection_id)
