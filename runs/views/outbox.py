"""The outbox: what has to leave, why it has not, and a person who has it tried now."""

from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from runs.ledger import hastening
from runs.queries import pages_outbox
from runs.queries.clock import db_now
from runs.rules.policy import Verb, may
from runs.web import HtmxRequest, actor_of, link_to, operator, page_or_part, position_in, unchanged

LIST, PART = "runs/outbox_list.html", "runs/_outbox.html"


@require_safe
def index(request: HtmxRequest) -> HttpResponse:
    actor, now = actor_of(request), db_now()
    state = request.GET.get("state", "open")
    state = state if state in ("open", "any", *pages_outbox.STATES) else "open"
    lane = request.GET.get("lane", "")[:100]
    version = int(now.timestamp()) // 5
    if same := unchanged(request, version):
        return same
    found = pages_outbox.page_of(
        actor, state="" if state == "any" else state, lane=lane, position=position_in(request)
    )
    return page_or_part(
        request,
        LIST,
        PART,
        items=pages_outbox.items_of(found.rows),
        state=state,
        states=("open", *pages_outbox.STATES, "any"),
        lane=lane,
        version=version,
        live_url=reverse("runs:outbox") + link_to(request),
        ask=request.GET.get("ask", ""),
        keep_url=link_to(request, ask=None),
        newer_url=link_to(request, at=found.newer) if found.newer else "",
        older_url=link_to(request, at=found.older) if found.older else "",
        may_operate=may(actor, Verb.OPERATE),
    )


@require_POST
@operator
def retry(request: HtmxRequest, message_id: UUID) -> HttpResponse:
    """Have it tried now; whether it may leave is decided as ever."""
    try:
        hastened = hastening.retry_now(actor_of(request), message_id)
    except hastening.NoSuchMessage:
        raise Http404 from None
    if hastened:
        messages.success(request, "It is due now; a courier takes it next.")
    else:
        messages.warning(
            request, "It is due or on its way already, or has nothing left to deliver."
        )
    return redirect("runs:outbox")
