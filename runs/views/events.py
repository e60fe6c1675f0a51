"""Events from outside: what came, what became of it, and one brought in by a person."""

from uuid import uuid4

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from runs.forms import EventForm
from runs.ledger import waking
from runs.queries import naming, pages_events
from runs.queries.pages_events import Row, Wanted
from runs.rules.policy import Verb, may
from runs.web import HtmxRequest, actor_of, link_to, operator, page_or_part, position_in

SAID = {
    "used": "A run was waiting for it and goes on.",
    "kept": "No run waits for it yet; it is kept until one does.",
    "late": "Whoever waited for it has gone without it; it is kept, and shown as late.",
    "duplicate": "This message was delivered before; nothing has changed.",
}


@require_safe
def index(request: HtmxRequest) -> HttpResponse:
    actor, which = actor_of(request), request.GET.get("which", "")
    wanted = Wanted(
        name=request.GET.get("name", "").strip()[:200],
        correlation_id=request.GET.get("correlation_id", "").strip()[:300],
        which=which if which in pages_events.WHICH else "",
    )
    found = pages_events.page_of(actor, wanted, position_in(request))
    return page_or_part(
        request,
        "runs/event_list.html",
        "runs/event_list.html",
        rows=[Row(event=event) for event in found.rows],
        wanted=wanted,
        choices=pages_events.WHICH,
        newer_url=link_to(request, at=found.newer) if found.newer else "",
        older_url=link_to(request, at=found.older) if found.older else "",
        may_operate=may(actor, Verb.OPERATE),
    )


@require_safe
def show(request: HtmxRequest, event_id: int) -> HttpResponse:
    actor = actor_of(request)
    row = pages_events.one(actor, event_id)
    if row is None:
        raise Http404
    payload = row.shown(visible=may(actor, Verb.VIEW_PAYLOADS))
    return render(request, "runs/event_show.html", {"row": row, "payload": payload})


@require_http_methods(["GET", "HEAD", "POST"])
@operator
def deliver(request: HtmxRequest) -> HttpResponse:
    """The message id is made with the form, so that pressing twice is one event."""
    actor = actor_of(request)
    tenants = naming.tenants_seen(actor)
    if request.method != "POST":
        given = {name: request.GET.get(name, "") for name in ("name", "correlation_id", "tenant")}
        form = EventForm(tenants, initial={**given, "payload": "{}", "message_id": str(uuid4())})
        return render(request, "runs/event_form.html", {"form": form})
    form = EventForm(tenants, request.POST)
    if form.is_valid():
        outcome = waking.deliver_event(source=actor.name[:200], **form.event)
        if outcome != "conflict":
            messages.success(request, SAID[outcome])
            return redirect("runs:event_list")
        form.add_error(None, "This message id was delivered before with other content.")
    return render(request, "runs/event_form.html", {"form": form}, status=422)
