"""The calls of a list: one with all its bytes, or all of them as a file."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.views.decorators.http import require_safe

from approvals.queries import calls
from approvals.queries.page import page_of
from approvals.queries.visible import visible_decision
from approvals.rules.columns import said
from approvals.views.refusals import refusing
from runs.queries.clock import db_now
from runs.rules import canonical, spreadsheet
from runs.web import HtmxRequest, actor_of, page_or_part, payload_viewer

if TYPE_CHECKING:
    from approvals.models import Decision


@require_safe
@refusing
def show(request: HtmxRequest, decision_id: int, ordinal: int) -> HttpResponse:
    page = page_of(actor_of(request), _about_a_list(request, decision_id))
    call = calls.call_of(page.decision, ordinal, visible=page.visible)
    if call is None:
        raise Http404
    return page_or_part(
        request,
        "approvals/call_show.html",
        "approvals/_call.html",
        now=db_now(),
        page=page,
        decision=page.decision,
        run=page.decision.run,
        call=call,
    )


@require_safe
@payload_viewer
@refusing
def as_lines(request: HtmxRequest, decision_id: int) -> StreamingHttpResponse:
    decision = _about_a_list(request, decision_id)
    lines = (canonical.dumps(call) + "\n" for call in calls.every_call(decision))
    return _file(lines, decision, "jsonl", "application/jsonl")


@require_safe
@payload_viewer
@refusing
def as_table(request: HtmxRequest, decision_id: int) -> StreamingHttpResponse:
    decision = _about_a_list(request, decision_id)
    return _file(_csv(decision), decision, "csv", "text/csv; charset=utf-8")


def _about_a_list(request: HtmxRequest, decision_id: int) -> "Decision":
    decision = visible_decision(actor_of(request), decision_id)
    if decision.kind != "plan":
        raise Http404
    return decision


def _csv(decision: "Decision") -> Iterator[str]:
    columns = calls.evidence_columns(decision)
    heads = ("ordinal", "effect", "resource", "request", "digest", "struck")
    yield spreadsheet.line([*heads, *columns])
    for call in calls.every_call(decision):
        evidence = call["evidence"]
        found = evidence if isinstance(evidence, dict) else {"evidence": evidence}
        own = [said(call[head]) for head in heads]
        yield spreadsheet.line([*own, *(said(found.get(name)) for name in columns)])


def _file(parts: Any, decision: "Decision", kind: str, media_type: str) -> StreamingHttpResponse:
    response = StreamingHttpResponse(parts, content_type=media_type)
    name = f"decision-{decision.pk}-calls.{kind}"
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
