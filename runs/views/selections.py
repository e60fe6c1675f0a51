"""Runs chosen together: what would become of each, how far it has come."""

from typing import TYPE_CHECKING, Any

from django.contrib import messages
from django.forms import Form
from django.http import Http404, HttpResponse, HttpResponseBadRequest
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from runs.forms import MoveForm
from runs.ledger import selecting
from runs.queries import selections
from runs.queries.clock import db_now
from runs.queries.selected import as_csv, shown_of
from runs.rules.policy import Verb, may
from runs.rules.together import Together
from runs.web import HtmxRequest, actor_of, operator, page_or_part, unchanged
from runs.web.choosing import chosen_runs
from runs.web.label_form import LabelForm

if TYPE_CHECKING:
    from runs.models import Selection

PART = "runs/_selection.html"


@require_safe
def index(request: HtmxRequest) -> HttpResponse:
    last = selections.selections(actor_of(request))
    return render(request, "runs/selection_list.html", {"selections": last, "now": db_now()})


@require_POST
@operator
def create(request: HtmxRequest) -> HttpResponse:
    actor, asked_for = actor_of(request), request.POST.get("asked_for", "")
    try:
        verb = Together(request.POST.get("verb", ""))
    except ValueError:
        return HttpResponseBadRequest("That is nothing that can be done to many runs.")
    try:
        ids = chosen_runs(actor, request.POST)
        selection = selecting.choose(actor, ids, verb=verb, asked_for=asked_for)
    except selecting.NotTogether as refused:
        messages.warning(request, str(refused))
        return redirect(f"{reverse('runs:run_list')}?{asked_for}")
    return redirect("runs:selection_show", selection.pk)


@require_safe
def show(request: HtmxRequest, selection_id: int) -> HttpResponse:
    selection = found(request, selection_id)
    return page(request, selection, form_for(selection))


@require_safe
def export(request: HtmxRequest, selection_id: int) -> HttpResponse:
    selection = found(request, selection_id)
    response = HttpResponse(as_csv(selection, now=db_now()), content_type="text/csv")
    name = f"runs-{selection.pk}.csv"
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def found(request: HtmxRequest, selection_id: int) -> "Selection":
    """Another tenant's is not there."""
    try:
        return selections.visible_selection(actor_of(request), selection_id)
    except selections.NoSuchSelection:
        raise Http404 from None


def form_for(selection: "Selection", data: Any = None) -> Form:
    """The reason, and what else the verb needs."""
    return LabelForm(data) if selection.verb == Together.LABEL else MoveForm(data)


def page(
    request: HtmxRequest, selection: "Selection", form: Form, *, status: int = 200
) -> HttpResponse:
    """What is chosen and what would become of it, or how far it has come."""
    counts = selections.counts_of(selection)
    version = "-".join(str(each) for each in (*counts.values(), selection.state))
    if same := unchanged(request, version):
        return same
    context: dict[str, Any] = {
        "selection": selection,
        "counts": counts,
        "version": version,
        "form": form,
        "may_operate": may(actor_of(request), Verb.OPERATE),
        "live_url": reverse("runs:selection_show", args=[selection.pk]),
        **shown_of(selection),
    }
    return page_or_part(request, "runs/selection_show.html", PART, status=status, **context)
