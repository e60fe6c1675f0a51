"""Decisions that are alike: looked at together, answered together."""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from approvals.ledger import batching
from approvals.queries import alike
from approvals.rules.asked import NoSuchOption
from approvals.rules.schema import FieldsRefused, fields_of
from runs.queries.clock import db_now
from runs.web import HtmxRequest, actor_of, number_in

REFUSALS = (batching.NotTogether, NoSuchOption, FieldsRefused)


@require_safe
def index(request: HtmxRequest) -> HttpResponse:
    actor = actor_of(request)
    found = {"groups": alike.groups_for(actor), "batches": alike.batches(actor), "now": db_now()}
    return render(request, "approvals/alike_list.html", found)


@require_safe
def show(request: HtmxRequest, decision_id: int) -> HttpResponse:
    return _shown(request, decision_id, refused="", status=200)


@require_POST
def create(request: HtmxRequest, decision_id: int) -> HttpResponse:
    """Each that is ticked is bound to the digest that stood beside it."""
    said = request.POST
    shown = {
        number: said.get(f"digest-{pk}", "")
        for pk in said.getlist("decision")
        if (number := number_in(pk)) is not None
    }
    fields = {name[6:]: said[name] for name in said if name.startswith("field-")}
    try:
        batch = batching.begin(
            actor_of(request),
            shown=shown,
            option=said.get("option", ""),
            fields=fields,
            comment=said.get("comment", ""),
            address=request.META.get("REMOTE_ADDR") or None,
        )
    except REFUSALS as refused:
        return _shown(request, decision_id, refused=str(refused), status=422)
    messages.success(request, "They are answered one after the other, in your name.")
    return redirect("approvals:batch_show", batch.pk)


def _shown(request: HtmxRequest, decision_id: int, *, refused: str, status: int) -> HttpResponse:
    try:
        group = alike.group_of(actor_of(request), decision_id)
    except alike.NoneAlike:
        raise Http404 from None
    context: dict[str, Any] = {
        "group": group,
        "fields": fields_of(group.options[0].fields) if group.options else (),
        "refused": refused,
        "ticked": set(request.POST.getlist("decision")),
        "written": request.POST.get("comment", ""),
        "now": db_now(),
    }
    return render(request, "approvals/alike_show.html", context, status=status)
