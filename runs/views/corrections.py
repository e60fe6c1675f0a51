"""Correcting the input of a run that stands still."""

from functools import partial
from uuid import UUID

from django.forms import Form
from django.http import HttpResponse
from django.views.decorators.http import require_http_methods

from runs.definition.registry import UnknownWorkflow
from runs.forms import CorrectForm
from runs.ledger import correcting
from runs.queries.pages_moves import MovePage
from runs.rules.inputs import InvalidInput
from runs.rules.verbs import RunVerb
from runs.views import moving
from runs.web import HtmxRequest, actor_of, operator, payload_viewer


def _form(request: HtmxRequest, page: MovePage) -> CorrectForm:
    return CorrectForm(
        declared=page.fields,
        values=page.values,
        data=moving.sent(request),
        initial={"seen": page.seen},
    )


@require_http_methods(["GET", "HEAD", "POST"])
@operator
@payload_viewer
@moving.refusing
def create(request: HtmxRequest, run_id: UUID) -> HttpResponse:
    page, form = moving.asked(request, run_id, RunVerb.CORRECT, partial(_form, request))
    if request.method != "POST" or not form.is_valid():
        return moving.shown(request, page, form)
    said = form.cleaned_data
    try:
        corrected = correcting.correct(
            actor_of(request),
            run_id,
            values=form.values,
            because=said["because"],
            seen=said["seen"] or None,
        )
    except (InvalidInput, UnknownWorkflow, correcting.NothingToCorrect) as refused:
        _explain(refused, form)
        return moving.shown(request, page, form)
    names = ", ".join(change.field for change in corrected.changes)
    return moving.done(request, run_id, f"Corrected: {names}. It goes on when it is resumed.")


def _explain(refused: Exception, form: Form) -> None:
    """Each sentence at the field it is about."""
    if not isinstance(refused, InvalidInput):
        form.add_error(None, str(refused))
        return
    for name, error in refused.errors.items():
        form.add_error(f"in_{name}" if f"in_{name}" in form.fields else None, error)
