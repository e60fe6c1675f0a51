"""Pausing: one run, or all that can move by themselves."""

from functools import partial
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from runs.forms import MoveForm
from runs.ledger import pausing
from runs.queries import pages_moves
from runs.rules.states import RunState
from runs.rules.verbs import RunVerb
from runs.rules.words import of
from runs.views import moving
from runs.web import HtmxRequest, actor_of, operator

AT_ONCE = 500


@require_http_methods(["GET", "HEAD", "POST"])
@operator
@moving.refusing
def create(request: HtmxRequest, run_id: UUID) -> HttpResponse:
    page, form = moving.asked(request, run_id, RunVerb.PAUSE, partial(moving.with_reason, request))
    if request.method != "POST" or not form.is_valid():
        return moving.shown(request, page, form)
    said = form.cleaned_data
    state = pausing.pause(
        actor_of(request), run_id, because=said["because"], seen=said["seen"] or None
    )
    if state == RunState.RUNNING:
        return moving.done(request, run_id, "Requested: it pauses at its next checkpoint.")
    return moving.done(request, run_id, "Paused.")


@require_http_methods(["GET", "HEAD", "POST"])
@operator
def create_all(request: HtmxRequest) -> HttpResponse:
    actor = actor_of(request)
    form = MoveForm(moving.sent(request))
    status = 200 if request.method != "POST" else 422
    if request.method == "POST" and form.is_valid():
        done = pausing.pause_all(actor, because=form.cleaned_data["because"], at_most=AT_ONCE)
        messages.success(request, _told(done))
        return redirect("runs:run_list")
    context = {"page": pages_moves.pausable(actor), "form": form, "verb": "pause"}
    return render(request, "runs/move_all.html", context, status=status)


def _told(done: pausing.PausedAll) -> str:
    asked = (
        f" {len(done.requested):,} more pause at their next checkpoint." if done.requested else ""
    )
    left = f" {of(done.left, 'run')} left: press again." if done.left else ""
    return f"Paused {of(len(done.paused), 'run')}.{asked}{left}"
