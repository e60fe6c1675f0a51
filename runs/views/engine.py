"""The bar that says when nothing is being executed, asked again by every open page."""

from django.http import HttpResponse

from runs.queries.pages_shell import engine_state
from runs.web import HtmxRequest, page_or_part, unchanged


def show(request: HtmxRequest) -> HttpResponse:
    state = engine_state()
    return unchanged(request, state.version) or page_or_part(
        request, "_engine.html", "_engine.html", engine=state
    )
