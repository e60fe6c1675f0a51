"""The badge of a workflow's certificate, for pages elsewhere."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from runs.queries import certificate, pages_workflows
from runs.rules.certificate import badge_of
from runs.web import actor_of


@require_safe
def show(request: HttpRequest, name: str) -> HttpResponse:
    """Of the highest version; without a certificate it says that nobody has asked."""
    actor = actor_of(request)
    page = pages_workflows.workflow_page(actor, name, None)
    if page is None:
        raise Http404
    shown = certificate.latest(actor, workflow=name, version=page.version, plan=page.plan)
    badge = badge_of(shown.certificate if shown else None, valid=bool(shown and shown.valid))
    return render(request, "runs/certificate.svg", {"badge": badge}, content_type="image/svg+xml")
