"""Having the whole of what a page shows in part: on a page, or as a file. That is noted."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from django.http import (
    HttpResponse,
    HttpResponseBadRequest,
    HttpResponseBase,
    StreamingHttpResponse,
)
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from approvals.ledger import sights
from approvals.queries import calls
from approvals.queries.proof import fits_a_page
from approvals.queries.visible import visible_decision
from approvals.rules.asked import asked_of
from approvals.rules.sight import WAYS
from approvals.views.refusals import refusing
from runs.rules import canonical, redaction
from runs.web import HtmxRequest, actor_of, payload_viewer

if TYPE_CHECKING:
    from approvals.models import Decision


@require_POST
@payload_viewer
@refusing
def create(request: HtmxRequest, decision_id: int) -> HttpResponseBase:
    asked = asked_of(visible_decision(actor_of(request), decision_id).ask)
    how = request.POST.get("how", "")
    if how not in WAYS:
        return HttpResponseBadRequest("That is no way to have the whole: page or download.")
    if how == "page" and not fits_a_page(asked):
        return HttpResponseBadRequest("The whole does not fit a page: download it.")
    decision = sights.note(actor_of(request), decision_id, how=how)
    return _as_page(decision) if how == "page" else _as_file(decision)


def _as_page(decision: "Decision") -> HttpResponse:
    return redirect(f"{reverse('approvals:decision_show', args=[decision.pk])}?whole=1#whole")


def _as_file(decision: "Decision") -> StreamingHttpResponse:
    response = StreamingHttpResponse(_lines(decision), content_type="application/jsonl")
    name = f"decision-{decision.pk}-whole.jsonl"
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def _lines(decision: "Decision") -> Iterator[str]:
    """First what is asked, then the calls; the digests are those of the real bytes."""
    asked = asked_of(decision.ask)
    request = redaction.shown(asked.call.get("request") if asked.call else None, paths=asked.redact)
    evidence = redaction.shown(asked.evidence, paths=asked.redact)
    head = {
        "decision": decision.pk,
        "question": decision.question,
        "digest": decision.digest,
        "ask_digest": decision.ask_digest,
        "call": {**asked.call, "request": request.value} if asked.call else None,
        "evidence": evidence.value,
        "redacted": sorted({*request.hidden, *evidence.hidden}),
    }
    yield canonical.dumps(head) + "\n"
    if asked.plan is not None:
        yield from (canonical.dumps(call) + "\n" for call in calls.every_call(decision))
