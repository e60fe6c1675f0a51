"""A run's audit chain as JSON lines, whole, for whoever keeps it elsewhere."""

import json
from uuid import UUID

from django.http import Http404, StreamingHttpResponse
from django.views.decorators.http import require_safe

from runs.queries import pages_run, pages_tabs
from runs.rules.policy import Verb, may
from runs.web import HtmxRequest, actor_of


@require_safe
def show(request: HtmxRequest, run_id: UUID) -> StreamingHttpResponse:
    actor = actor_of(request)
    run = pages_run.visible_run(actor, run_id)
    if run is None:
        raise Http404
    events = pages_tabs.chain_lines(run, visible=may(actor, Verb.VIEW_PAYLOADS))
    lines = (json.dumps(one) + "\n" for one in events)
    response = StreamingHttpResponse(lines, content_type="application/x-ndjson")
    response.headers["Content-Disposition"] = f'attachment; filename="audit-{run.pk}.jsonl"'
    return response
