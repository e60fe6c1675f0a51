"""Views of the list of runs that a person keeps under a name."""

from django.contrib import messages
from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from runs.ledger import saved_views
from runs.queries.saved_views import NoSuchView
from runs.rules.saved_views import ViewRefused, query_of
from runs.web import HtmxRequest, actor_of


@require_POST
def create(request: HtmxRequest) -> HttpResponse:
    actor, name = actor_of(request), request.POST.get("name", "")
    query = query_of(QueryDict(request.POST.get("asked_for", "")).dict())
    try:
        view = saved_views.save(actor, name=name, query=query)
        messages.success(request, f"Kept as “{view.name}”.")
    except ViewRefused as refused:
        messages.warning(request, str(refused))
    return redirect(f"{reverse('runs:run_list')}?{query}")


@require_POST
def forget(request: HtmxRequest, view_id: int) -> HttpResponse:
    try:
        saved_views.forget(actor_of(request), view_id)
    except NoSuchView:
        raise Http404 from None
    messages.success(request, "That view is not kept any more.")
    return redirect("runs:run_list")
