"""Starting a run from its workflow's page."""

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from runs.forms import StartForm
from runs.ledger import lifecycle
from runs.ledger.plans import PlanChanged
from runs.ledger.tenants import NoSuchTenant
from runs.queries import pages_workflows
from runs.rules.inputs import InvalidInput
from runs.rules.plan import BrokenWorkflow
from runs.views import workflows
from runs.web import HtmxRequest, actor_of, operator

REFUSALS = (
    InvalidInput,
    lifecycle.StartKeyTaken,
    NoSuchTenant,
    PlanChanged,
    BrokenWorkflow,
)


@require_POST
@operator
def create(request: HtmxRequest, name: str) -> HttpResponse:
    actor = actor_of(request)
    page = pages_workflows.workflow_page(actor, name, None)
    if page is None or not page.startable:
        raise Http404
    form = StartForm(page.fields, request.POST)
    if not form.is_valid():
        return workflows.answer(request, page, form, status=422)
    try:
        started = lifecycle.start(
            actor,
            workflow=name,
            data=form.run_input,
            reference=form.cleaned_data["reference"] or None,
            start_key=form.cleaned_data["start_key"] or None,
        )
    except REFUSALS as refusal:
        _explain(refusal, form)
        return workflows.answer(request, page, form, status=422)
    if not started.created:
        messages.info(request, "This start key had started this run before: here it is.")
    return redirect("runs:run_show", started.id)


def _explain(refusal: Exception, form: StartForm) -> None:
    """Each sentence at the field it is about."""
    if isinstance(refusal, InvalidInput):
        for name, error in refusal.errors.items():
            form.add_error(f"in_{name}" if f"in_{name}" in form.fields else None, error)
    else:
        taken = isinstance(refusal, lifecycle.StartKeyTaken)
        form.add_error("start_key" if taken else None, str(refusal))
