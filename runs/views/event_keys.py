"""Keys of senders outside: made, shown once, revoked."""

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from runs.forms import EventKeyForm
from runs.ledger import event_keys
from runs.queries import naming, pages_events
from runs.rules.event_keys import BadEventName
from runs.web import HtmxRequest, actor_of, operator


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@operator
def index(request: HtmxRequest) -> HttpResponse:
    """The secret is in the one answer that made it, and nowhere else."""
    actor, made, status = actor_of(request), None, 200
    posted = request.POST if request.method == "POST" else None
    form = EventKeyForm(naming.tenants_seen(actor), posted)
    if posted is not None:
        status = 422
        if form.is_valid():
            try:
                made, status = event_keys.add(actor, **form.key), 201
                form = EventKeyForm(naming.tenants_seen(actor))
            except BadEventName as bad:
                form.add_error("events", str(bad))
    told = {"form": form, "made": made, "keys": pages_events.keys_of(actor)}
    return render(request, "runs/event_keys.html", told, status=status)


@require_POST
@operator
def revoke(request: HtmxRequest, handle: str) -> HttpResponse:
    try:
        name = event_keys.revoke(actor_of(request), handle)
    except event_keys.NoSuchKey:
        raise Http404 from None
    messages.success(request, f"The key {handle} of {name} opens nothing any more.")
    return redirect("runs:event_keys")
