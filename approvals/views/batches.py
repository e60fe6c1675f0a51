"""A batch: what became of each decision that was answered together, and the stopping of the rest."""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from approvals.ledger import batching
from approvals.queries import alike
from runs.web import HtmxRequest, actor_of, page_or_part, unchanged


@require_safe
def show(request: HtmxRequest, batch_id: int) -> HttpResponse:
    try:
        found = alike.visible_batch(actor_of(request), batch_id)
    except alike.NoSuchBatch:
        raise Http404 from None
    counts = alike.counts_of(found)
    version = "-".join(str(each) for each in (*counts.values(), found.state))
    if same := unchanged(request, version):
        return same
    live_url = reverse("approvals:batch_show", args=[batch_id])
    context: dict[str, Any] = {
        "batch": found,
        "counts": counts,
        "version": version,
        "live_url": live_url,
    }
    part = "approvals/_batch.html"
    items = alike.items_of(found)
    return page_or_part(request, "approvals/batch_show.html", part, items=items, **context)


@require_POST
def stop(request: HtmxRequest, batch_id: int) -> HttpResponse:
    try:
        batching.stop(actor_of(request), batch_id)
        messages.success(request, "Stopped. What was answered stays; the rest is open.")
    except alike.NoSuchBatch:
        raise Http404 from None
    except batching.AlreadyEnded as ended:
        messages.info(request, str(ended))
    return redirect("approvals:batch_show", batch_id)
