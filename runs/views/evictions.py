"""Evicting a worker that is believed lost: its run goes back to the queue."""

from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from runs.engine.evicting import Evicted, evict
from runs.ledger.evicting import Eviction, NotEvicted
from runs.queries import pages_evictions
from runs.rules.words import of
from runs.views import moving
from runs.web import HtmxRequest, actor_of, operator
from runs.web.eviction_form import EvictionForm


@require_http_methods(["GET", "HEAD", "POST"])
@operator
def create(request: HtmxRequest, worker_id: UUID) -> HttpResponse:
    page = pages_evictions.eviction_page(actor_of(request), worker_id)
    if page is None:
        raise Http404
    form = EvictionForm(data=moving.sent(request), seen=page.seen, may_live=page.may_live)
    if request.method != "POST" or not (page.refusal or form.is_valid()):
        status = 200 if request.method != "POST" else 422
        return render(request, "runs/eviction.html", {"page": page, "form": form}, status=status)
    try:
        return _evicted(request, worker_id, page, form)
    except NotEvicted as refused:
        context = {"because": str(refused), "back_url": reverse("runs:worker_list")}
        return render(request, "409.html", context, status=409)


def _evicted(
    request: HtmxRequest,
    worker_id: UUID,
    page: pages_evictions.EvictionPage,
    form: EvictionForm,
) -> HttpResponse:
    if page.refusal:
        raise NotEvicted(page.refusal)
    said = form.cleaned_data
    asked = Eviction(
        worker_id=worker_id,
        because=said["because"],
        though_alive=said.get("though_alive", False),
        seen=said["seen"],
    )
    messages.success(request, told(evict(actor_of(request), asked)))
    return redirect("runs:worker_list")


def told(done: Evicted) -> str:
    """What came of it, in a sentence."""
    if done.lives:
        return (
            "It is declared lost and its writes are void, but its process would not die. "
            "The watch places its run as soon as it is dead."
        )
    if not done.runs:
        return "It is declared lost. It held no run."
    return f"It is declared lost, and {of(len(done.runs), 'run')} taken from it."
