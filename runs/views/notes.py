"""Notes on a run: one is written at once, and withdrawn by whoever wrote it."""

from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from runs.ledger import noting
from runs.rules.notes import LONGEST, NoteRefused
from runs.rules.ways_back import WayBack
from runs.views import moving
from runs.web import HtmxRequest, actor_of, operator, undoing


@require_POST
@operator
@moving.refusing
def create(request: HtmxRequest, run_id: UUID) -> HttpResponse:
    text = request.POST.get("text", "")
    try:
        kept = noting.note(actor_of(request), run_id, text=text)
    except NoteRefused as refused:
        told = {"run_id": run_id, "because": refused, "text": text, "longest": LONGEST}
        return render(request, "runs/note_refused.html", told, status=422)
    back = WayBack(url=reverse("runs:note_withdraw", args=[run_id, kept.pk]))
    undoing.said(request, "It is noted, for whoever looks at this run.", back)
    return redirect("runs:run_show", run_id)


@require_POST
@operator
@moving.refusing
def withdraw(request: HtmxRequest, run_id: UUID, note_id: int) -> HttpResponse:
    try:
        noting.withdraw(actor_of(request), run_id, note_id)
    except noting.NotYourNote as refused:
        told = {"because": str(refused), "back_url": reverse("runs:run_show", args=[run_id])}
        return render(request, "409.html", told, status=409)
    return moving.done(request, run_id, "Your note is withdrawn.")
