"""Cancelling a run."""

from functools import partial
from uuid import UUID

from django.http import HttpResponse
from django.views.decorators.http import require_http_methods

from runs.ledger import lifecycle
from runs.rules.states import RunState
from runs.rules.verbs import RunVerb
from runs.rules.words import of
from runs.views import moving
from runs.web import HtmxRequest, actor_of, operator


@require_http_methods(["GET", "HEAD", "POST"])
@operator
@moving.refusing
def create(request: HtmxRequest, run_id: UUID) -> HttpResponse:
    page, form = moving.asked(request, run_id, RunVerb.CANCEL, partial(moving.with_reason, request))
    if request.method != "POST" or not form.is_valid():
        return moving.shown(request, page, form)
    said = form.cleaned_data
    state = lifecycle.cancel(
        actor_of(request), run_id, because=said["because"], seen=said["seen"] or None
    )
    if state == RunState.RUNNING:
        return moving.done(request, run_id, "Requested: it ends at its next checkpoint.")
    doubts = len(page.in_doubt)
    unknown = f" Nobody knows what became of {of(doubts, 'call')}." if doubts else ""
    return moving.done(request, run_id, f"Cancelled.{unknown}")
