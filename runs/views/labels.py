"""Setting a label of a run, or taking it away."""

from functools import partial
from uuid import UUID

from django.forms import Form
from django.http import HttpResponse
from django.views.decorators.http import require_http_methods

from runs.ledger import labelling
from runs.queries.pages_moves import MovePage
from runs.rules.labels import LabelRefused
from runs.rules.verbs import RunVerb
from runs.views import moving
from runs.web import HtmxRequest, actor_of, operator
from runs.web.label_form import LabelForm


def _form(request: HtmxRequest, page: MovePage) -> Form:
    return LabelForm(data=moving.sent(request), initial={"seen": page.seen})


@require_http_methods(["GET", "HEAD", "POST"])
@operator
@moving.refusing
def create(request: HtmxRequest, run_id: UUID) -> HttpResponse:
    page, form = moving.asked(request, run_id, RunVerb.LABEL, partial(_form, request))
    if request.method != "POST" or not form.is_valid():
        return moving.shown(request, page, form)
    said = form.cleaned_data
    try:
        labelling.label(
            actor_of(request),
            run_id,
            said["label"],
            because=said["because"],
            seen=said["seen"] or None,
        )
    except LabelRefused as refused:
        form.add_error("name", str(refused))
        return moving.shown(request, page, form)
    return moving.done(request, run_id, "Labelled." if said["label"].value else "Label taken away.")
