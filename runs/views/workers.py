"""The workers, from their own table: a row that is not renewed never looks at work."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from runs.ledger import draining
from runs.queries import pages_workers
from runs.rules.policy import Verb, may
from runs.web import HtmxRequest, actor_of, operator, page_or_part, unchanged


@require_safe
def index(request: HtmxRequest) -> HttpResponse:
    actor = actor_of(request)
    page = pages_workers.workers_page(actor)
    if same := unchanged(request, page.version):
        return same
    return page_or_part(
        request,
        "runs/worker_list.html",
        "runs/_workers.html",
        page=page,
        may_operate=may(actor, Verb.OPERATE),
        live_url=reverse("runs:worker_list"),
    )


@require_POST
@operator
def drain(request: HtmxRequest, worker_id: UUID) -> HttpResponse:
    """Let it finish what it holds and take nothing more."""
    if draining.drain(actor_of(request), worker_id):
        messages.success(request, "It finishes what it holds and takes nothing more.")
    else:
        messages.warning(request, "That worker is gone already; nothing was changed.")
    return redirect("runs:worker_list")


@require_POST
@operator
def take_back(request: HtmxRequest, worker_id: UUID) -> HttpResponse:
    """Let it take work again."""
    if draining.take_back(actor_of(request), worker_id):
        messages.success(request, "It takes work again.")
    else:
        messages.warning(request, "No person has drained that worker, or it is gone.")
    return redirect("runs:worker_list")
