"""Replaying: the steps behind a checkpoint again, in the same run, under the same keys."""

from typing import Any
from uuid import UUID

from django.http import Http404, HttpResponse
from django.views.decorators.http import require_http_methods

from runs.forms import ReplayForm
from runs.ledger import replaying
from runs.queries import pages_redo
from runs.views import moving
from runs.web import HtmxRequest, actor_of, operator

PAGE = "runs/redo.html"


@require_http_methods(["GET", "HEAD", "POST"])
@operator
@moving.refusing
def create(request: HtmxRequest, run_id: UUID) -> HttpResponse:
    said = request.POST if request.method == "POST" else request.GET
    page = pages_redo.replay_page(
        actor_of(request),
        run_id,
        checkpoint=number_in(said),
        forget_judgements=said.get("judgements") == "forget",
    )
    if page is None:
        raise Http404
    begun = {"seen": page.seen, "checkpoint": page.checkpoint, "judgements": said.get("judgements")}
    form = ReplayForm(data=moving.sent(request), initial=begun)
    if request.method != "POST" or not form.is_valid():
        return moving.shown(request, page, form, template=PAGE)
    given = form.cleaned_data
    done = replaying.replay(
        actor_of(request),
        run_id,
        checkpoint=given["checkpoint"],
        because=given["because"],
        forget_judgements=given["judgements"] == "forget",
        seen=given["seen"] or None,
    )
    return moving.done(
        request, run_id, f"Replayed: generation {done.generation} begins at {done.step}."
    )


def number_in(said: Any) -> int | None:
    """The checkpoint that is asked about; what is no number is none."""
    text = said.get("checkpoint", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None
