"""Files that steps have made, always as a download: a report is never run by the browser."""

from uuid import UUID

from django.http import FileResponse, Http404
from django.views.decorators.http import require_safe

from runs.queries import pages_files
from runs.web import HtmxRequest, actor_of, payload_viewer


@require_safe
@payload_viewer
def show(request: HtmxRequest, run_id: UUID, artifact_id: int) -> FileResponse:
    found = pages_files.artifact(actor_of(request), run_id, artifact_id)
    if found is None:
        raise Http404
    return FileResponse(
        pages_files.opened(found),
        as_attachment=True,
        filename=found.name,
        content_type="application/octet-stream",
    )
