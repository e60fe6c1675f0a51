"""The frame of every open page, asked again: whether anything is executed, and how much needs somebody."""

from django.http import HttpResponse

from runs.queries.pages_shell import engine_state
from runs.web import HtmxRequest, actor_of, page_or_part, unchanged
from runs.web.needs import HOME, waiting


def show(request: HtmxRequest) -> HttpResponse:
    """Also a page that nobody looks at asks: its title counts, and the browser may say that it grew."""
    state = engine_state()
    needing = waiting(actor_of(request))[HOME]
    return unchanged(request, f"{state.version}.{needing}") or page_or_part(
        request, "_engine.html", "_engine.html", engine=state
    )
