"""A channel given another secret, or removed: what it would do is said before it is done."""

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from runs.ledger import channels
from runs.queries import pages_channels
from runs.views.channel_moves import on_channel
from runs.web import HtmxRequest, actor_of

looked_at = require_http_methods(["GET", "HEAD", "POST"])


@never_cache
@looked_at
@on_channel
def rotate(request: HtmxRequest, channel_id: int, seen: int | None) -> HttpResponse:
    if request.method != "POST":
        return _grave(request, channel_id, what="rotate")
    made = channels.rotate(actor_of(request), channel_id, seen=seen)
    return render(request, "runs/channel_secret.html", {"made": made}, status=201)


@looked_at
@on_channel
def remove(request: HtmxRequest, channel_id: int, seen: int | None) -> HttpResponse:
    if request.method != "POST":
        return _grave(request, channel_id, what="remove")
    because = request.POST.get("because", "").strip()[:2000]
    removed = channels.remove(actor_of(request), channel_id, because=because, seen=seen)
    messages.success(request, f"{removed.name} is removed, and its secrets are erased.")
    return redirect("runs:channel_list")


def _grave(request: HtmxRequest, channel_id: int, *, what: str) -> HttpResponse:
    """What it would do, before it is done."""
    actor = actor_of(request)
    row = pages_channels.one(actor, channel_id)
    if row is None:
        raise Http404
    alone = pages_channels.told_by_it_alone(row, pages_channels.rows_of(actor))
    shown = {"row": row, "what": what, "alone": alone}
    return render(request, "runs/channel_grave.html", shown)
