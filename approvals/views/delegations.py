"""Who answers in whose place: listed, made with an end, ended before it."""

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from approvals.forms import DelegationForm
from approvals.ledger import delegating
from approvals.queries import delegations
from runs.ledger.tenants import NoSuchTenant
from runs.queries.clock import db_now
from runs.web import HtmxRequest, actor_of


@require_http_methods(["GET", "HEAD", "POST"])
def index(request: HtmxRequest) -> HttpResponse:
    actor, now = actor_of(request), db_now()
    posted = request.POST if request.method == "POST" else None
    form = DelegationForm(delegations.choices_of(actor), posted)
    if posted is not None and form.is_valid():
        try:
            made = delegating.delegate(actor, **form.wish)
        except (delegating.DelegationRefused, NoSuchTenant) as refused:
            form.add_error(None, str(refused))
        else:
            # Not `now`: it was read before this delegation began.
            messages.success(request, delegations.shown(made, now=db_now()).sentence)
            return redirect("approvals:delegations")
    told = {"form": form, "rows": delegations.shown_to(actor, now=now, everything=True)}
    return render(request, "approvals/delegations.html", told, status=422 if posted else 200)


@require_POST
def end(request: HtmxRequest, delegation_id: int) -> HttpResponse:
    try:
        delegating.end(actor_of(request), delegation_id)
    except delegations.NoSuchDelegation:
        raise Http404 from None
    except delegating.DelegationRefused as refused:
        messages.info(request, str(refused))
    else:
        messages.success(request, "Ended. It opens nothing any more.")
    return redirect("approvals:delegations")
