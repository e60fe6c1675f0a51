"""A run's audit chain as JSON lines, whole, for whoever keeps it elsewhere."""

import json
from uuid import UUID

from django.http import Http404, StreamingHttpResponse
from django.views.decorators.http import require_safe

from runs.queries import pages_run, pages_tabs
from runs.web import HtmxRequest, actor_of


@require_safe
def show(request: HtmxRequest, run_id: UUID) -> StreamingHttpResponse:
    run = pages_run.visible_run(actor_of(request), run_id)
    if run is None:
        raise Http404
    lines = (json.dumps(one) + "\n" for one in pages_tabs.chain_lines(run))
    response = StreamingHttpResponse(lines, content_type="application/x-ndjson")
    response.headers["Content-Disposition"] = f'attachment; filename="audit-{run.pk}.jsonl"'
    return response
