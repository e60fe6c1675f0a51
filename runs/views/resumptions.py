"""Resuming: one run, or all that were paused together."""

from datetime import timedelta
from functools import partial
from uuid import UUID

from django.contrib import messages
from django.forms import Form
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from runs.forms import MoveForm, ResumeForm
from runs.ledger import resuming
from runs.ledger.limits import DeadlineTooShort, NoDeadline
from runs.queries import pages_moves
from runs.queries.pages_moves import MovePage
from runs.rules.verbs import RunVerb
from runs.rules.words import of
from runs.views import moving
from runs.web import HtmxRequest, actor_of, operator

AT_ONCE = 500


def _form(request: HtmxRequest, page: MovePage) -> Form:
    return ResumeForm(
        deadline_is_over=page.deadline_is_over,
        data=moving.sent(request),
        initial={"seen": page.seen},
    )


@require_http_methods(["GET", "HEAD", "POST"])
@operator
@moving.refusing
def create(request: HtmxRequest, run_id: UUID) -> HttpResponse:
    page, form = moving.asked(request, run_id, RunVerb.RESUME, partial(_form, request))
    if request.method != "POST" or not form.is_valid():
        return moving.shown(request, page, form)
    said, hours = form.cleaned_data, form.cleaned_data.get("deadline")
    try:
        resumed = resuming.resume(
            actor_of(request),
            run_id,
            because=said["because"],
            deadline=timedelta(hours=hours) if hours else None,
            seen=said["seen"] or None,
        )
    except (NoDeadline, DeadlineTooShort) as refused:
        form.add_error("deadline", str(refused))
        return moving.shown(request, page, form)
    return moving.done(request, run_id, f"Resumed: it is {resumed.state} at {resumed.step}.")


@require_http_methods(["GET", "HEAD", "POST"])
@operator
def create_all(request: HtmxRequest) -> HttpResponse:
    actor = actor_of(request)
    form = MoveForm(moving.sent(request))
    form.fields["because"].required = False
    if request.method == "POST" and form.is_valid():
        done = resuming.resume_all(actor, because=form.cleaned_data["because"], at_most=AT_ONCE)
        left = f" {of(done.left, 'more run')} left." if done.left else ""
        messages.success(request, f"Resumed {of(len(done.resumed), 'run')}.{left}")
        return redirect("runs:run_list")
    context = {"page": pages_moves.resumable(actor), "form": form, "verb": "resume"}
    return render(request, "runs/move_all.html", context)
