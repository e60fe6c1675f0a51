"""The workflows, and the page of one: its plan, its last runs, and the form that starts it."""

from django.http import Http404, HttpResponse
from django.views.decorators.http import require_safe

from runs.definition import registry
from runs.forms import StartForm
from runs.queries import certificate, pages_workflows
from runs.rules.policy import Verb, may
from runs.web import HtmxRequest, actor_of, page_or_part


@require_safe
def index(request: HtmxRequest) -> HttpResponse:
    lines = pages_workflows.workflow_lines(actor_of(request))
    page = "runs/workflow_list.html"
    return page_or_part(request, page, page, lines=lines, failures=registry.failures())


@require_safe
def show(request: HtmxRequest, name: str, version: int | None = None) -> HttpResponse:
    page = pages_workflows.workflow_page(actor_of(request), name, version)
    if page is None:
        raise Http404
    return answer(request, page, StartForm(page.fields))


def answer(
    request: HtmxRequest, page: pages_workflows.WorkflowPage, form: StartForm, *, status: int = 200
) -> HttpResponse:
    """The page with this form in it; also what a refused start comes back to."""
    template, actor = "runs/workflow_show.html", actor_of(request)
    shown = certificate.latest(actor, workflow=page.name, version=page.version, plan=page.plan)
    context = {"page": page, "form": form, "shown": shown}
    context["may_start"] = may(actor, Verb.OPERATE)
    return page_or_part(request, template, template, status=status, **context)
