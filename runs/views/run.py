"""One run: how it stands, its timeline, and the tab that is open."""

from typing import Any
from uuid import UUID

from django.http import Http404, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from runs.queries import pages_redo, pages_run, pages_tabs
from runs.queries.clock import db_now
from runs.queries.notes import notes_on
from runs.queries.pages_run import RunPage
from runs.queries.verbs import seen_as
from runs.rules.notes import LONGEST
from runs.rules.policy import Verb, may
from runs.rules.verbs import RunVerb
from runs.views.run_tabs import TABS
from runs.web import HtmxRequest, actor_of, link_to, number_in, page_or_part, unchanged


@require_safe
def show(request: HtmxRequest, run_id: UUID) -> HttpResponse:
    now = db_now()
    run = pages_run.visible_run(actor_of(request), run_id)
    if run is None:
        raise Http404
    version = pages_run.version_of(run, now=now)
    if same := unchanged(request, version):
        return same
    page = pages_run.run_page(run, now=now, begins=number_in(request.GET.get("steps", "")))
    tab = request.GET.get("tab", "steps")
    tab = tab if tab in TABS else "steps"
    return page_or_part(
        request,
        "runs/run_show.html",
        "runs/_run.html",
        now=now,
        page=page,
        lineage=pages_redo.lineage_of(actor_of(request), run),
        run=run,
        version=version,
        speed=pages_run.speed_of(run),
        live_url=reverse("runs:run_show", args=[run.pk]) + link_to(request),
        may_operate=may(actor_of(request), Verb.OPERATE),
        tab=tab,
        tab_template=f"runs/_tab_{tab}.html",
        tabs=pages_tabs.tabs_of(run),
        **_where(request, page),
        **_asked(request, page),
        notes=notes_on(run, actor_of(request)),
        run_id=run.pk,
        longest=LONGEST,
        **TABS[tab](request, page),
    )


def _asked(request: HtmxRequest, page: RunPage) -> dict[str, Any]:
    """Whether it is asked in place if the run is to be tried now; the safe way has the focus."""
    offered = {offer.verb for offer in page.offers if offer.possible}
    retries = RunVerb.RETRY in offered and may(actor_of(request), Verb.OPERATE)
    return {
        "ask_retry": link_to(request, ask="retry"),
        "asks_retry": retries and request.GET.get("ask") == "retry",
        "keep_url": link_to(request, ask=None),
        "seen": seen_as(page.run),
    }


def _where(request: HtmxRequest, page: RunPage) -> dict[str, Any]:
    """The ways along a long timeline, and to the step at which a failed run stopped."""
    stretch, failed = page.timeline.stretch, page.failed
    ways = {"earlier_steps": stretch.earlier, "later_steps": stretch.later}
    links = {name: link_to(request, steps=str(at)) for name, at in ways.items() if at}
    if failed is None:
        return links
    here = "" if stretch.holds(failed.ordinal) else link_to(request, steps=None)
    return {**links, "failed_url": f"{here}#line-{failed.key}"}
