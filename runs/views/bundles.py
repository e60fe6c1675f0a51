"""A run in one file, to be kept elsewhere and checked without this installation."""

from tempfile import TemporaryFile
from uuid import UUID

from django.http import FileResponse, Http404
from django.views.decorators.http import require_safe

from runs.queries import pages_run
from runs.queries.bundling import bundle
from runs.queries.clock import db_now
from runs.web import HtmxRequest, actor_of, payload_viewer


@require_safe
@payload_viewer
def show(request: HtmxRequest, run_id: UUID) -> FileResponse:
    actor = actor_of(request)
    run = pages_run.visible_run(actor, run_id)
    if run is None:
        raise Http404
    # Closed, and with that removed, when the answer has been sent.
    file = TemporaryFile()  # noqa: SIM115
    bundle(run, file, by=actor.name, now=db_now())
    return FileResponse(
        file, as_attachment=True, filename=f"run-{run.pk}.zip", content_type="application/zip"
    )
