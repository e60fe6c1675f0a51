"""Restarting: a new run with fresh keys in place of this one."""

from uuid import UUID

from django.http import Http404, HttpResponse
from django.views.decorators.http import require_http_methods

from runs.definition.registry import UnknownWorkflow
from runs.forms import RestartForm
from runs.ledger import restarting
from runs.ledger.plans import PlanChanged
from runs.queries import pages_redo
from runs.rules.inputs import InvalidInput
from runs.rules.plan import BrokenWorkflow
from runs.views import moving
from runs.views.replays import PAGE, number_in
from runs.web import HtmxRequest, actor_of, operator

REFUSALS = (UnknownWorkflow, BrokenWorkflow, InvalidInput, PlanChanged)


@require_http_methods(["GET", "HEAD", "POST"])
@operator
@moving.refusing
def create(request: HtmxRequest, run_id: UUID) -> HttpResponse:
    said = request.POST if request.method == "POST" else request.GET
    page = pages_redo.restart_page(actor_of(request), run_id, checkpoint=number_in(said))
    if page is None:
        raise Http404
    form = _form(request, page)
    if request.method != "POST" or not form.is_valid():
        return moving.shown(request, page, form, template=PAGE)
    given = form.cleaned_data
    try:
        done = restarting.restart(
            actor_of(request),
            run_id,
            because=given["because"],
            checkpoint=given["checkpoint"] or None,
            abandon=given.get("abandon", ()),
            seen=given["seen"] or None,
        )
    except REFUSALS as refused:
        form.add_error(None, str(refused))
        return moving.shown(request, page, form, template=PAGE)
    return moving.done(request, done.id, _told(done))


def _form(request: HtmxRequest, page: pages_redo.RedoPage) -> RestartForm:
    return RestartForm(
        names=(page.run.reference, str(page.run.pk)),
        unsettled=[call.key for call in page.preview.unsettled],
        grave=page.preview.asks_first,
        data=moving.sent(request),
        initial={"seen": page.seen, "checkpoint": page.checkpoint},
    )


def _told(done: restarting.Restarted) -> str:
    if done.asks:
        return "This run stands ready. A person decides first whether it begins."
    if done.state == "waiting":
        return "This run begins as soon as the old one's worker has let go."
    return "Restarted: this is the new run."
