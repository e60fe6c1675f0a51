"""The audit of one step: a drawer beside the run, a page of its own everywhere else."""

from uuid import UUID

from django.http import Http404, HttpResponse
from django.views.decorators.http import require_safe

from runs.queries import pages_run, pages_step
from runs.queries.clock import db_now
from runs.rules.policy import Verb, may
from runs.web import HtmxRequest, actor_of, page_or_part, payload_viewer


@require_safe
def show(request: HtmxRequest, run_id: UUID, key: str) -> HttpResponse:
    actor = actor_of(request)
    run = pages_run.visible_run(actor, run_id)
    page = run and pages_step.step_page(run, key, visible=may(actor, Verb.VIEW_PAYLOADS))
    if page is None:
        raise Http404
    return page_or_part(
        request,
        "runs/step_show.html",
        "runs/_step_drawer.html",
        now=db_now(),
        page=page,
        run=run,
        may_operate=may(actor, Verb.OPERATE),
    )


@require_safe
@payload_viewer
def facts(request: HtmxRequest, run_id: UUID, key: str, which: str) -> HttpResponse:
    """The whole of what the page shows the beginning of."""
    run = pages_run.visible_run(actor_of(request), run_id)
    text = run and pages_step.whole_facts(run, key, which=which)
    if text is None:
        raise Http404
    response = HttpResponse(text, content_type="application/json")
    response.headers["Content-Disposition"] = f'attachment; filename="{key}-{which}.json"'
    return response
