"""Beginning a drill from its workflow's page, and stopping one that is under way."""

from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_POST

from runs.definition.registry import UnknownWorkflow
from runs.engine import drill_starting
from runs.ledger import drills
from runs.ledger.tenants import NoSuchTenant
from runs.queries import drills as drilled
from runs.queries import memberships, naming
from runs.rules.plan import BrokenWorkflow
from runs.web import HtmxRequest, actor_of, operator

REFUSALS = (
    drill_starting.NotDrillable,
    drills.AlreadyDrilling,
    BrokenWorkflow,
    NoSuchTenant,
)


@require_POST
@operator
def start(request: HtmxRequest, name: str) -> HttpResponse:
    actor = actor_of(request)
    tenant = next(iter(naming.tenants_seen(actor).values()), memberships.DEFAULT)
    try:
        drill_starting.start(actor, name, tenant=tenant, matrix="matrix" in request.POST)
    except UnknownWorkflow:
        raise Http404 from None
    except REFUSALS as refused:
        context = {"because": str(refused), "back_url": reverse("runs:drill_list")}
        return render(request, "409.html", context, status=409)
    messages.success(request, "The drill is under way. Its verdict will be here.")
    return redirect(f"{reverse('runs:drill_list')}?{urlencode({'workflow': name})}")


@require_POST
@operator
def stop(request: HtmxRequest, drill_id: UUID) -> HttpResponse:
    actor = actor_of(request)
    if drills.stop(actor, drill_id):
        messages.success(request, "It stops within seconds; what it found so far is let go.")
    elif drilled.is_known(actor, drill_id):
        messages.warning(request, "It is over, or to be stopped already; nothing was changed.")
    else:
        raise Http404
    return redirect("runs:drill_list")
