"""The list of runs, and the rows of it that a reader already has before their eyes."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpResponse, HttpResponseBadRequest
from django.urls import reverse
from django.views.decorators.http import require_safe

from runs.queries import pages_runs, saved_views
from runs.queries.clock import db_now
from runs.queries.pages_runs import Row, Wanted
from runs.rules.policy import Verb, may
from runs.tables import RunTable
from runs.web import HtmxRequest, actor_of, link_to, page_or_part, position_in, unchanged
from runs.web.run_filter import filter_of


@require_safe
def index(request: HtmxRequest) -> HttpResponse:
    now = db_now()
    asked = filter_of(actor_of(request), request.GET, now=now)
    valid = asked.form.is_valid()
    wanted = asked.wanted if valid else Wanted()
    runs = pages_runs.wanted_runs(actor_of(request), wanted, now=now)
    found = pages_runs.page_of(runs, wanted, position=position_in(request))
    return page_or_part(
        request,
        "runs/run_list.html",
        "runs/_run_rows.html",
        status=200 if valid else 422,
        now=now,
        filter=asked,
        asked_for=link_to(request, at=None, ids=None)[1:],
        mine=urlencode({"q": f"{pages_runs.BY}{actor_of(request).name}"}),
        views=saved_views.views_of(actor_of(request)),
        may_operate=may(actor_of(request), Verb.OPERATE),
        amount=pages_runs.count_of(runs),
        newer_url=link_to(request, at=found.newer) if found.newer else "",
        older_url=link_to(request, at=found.older) if found.older else "",
        **_region(request, wanted, pages_runs.rows_of(found.rows, now=now), new=0),
    )


@require_safe
def rows(request: HtmxRequest) -> HttpResponse:
    now, ids = db_now(), _ids(request)
    asked = filter_of(actor_of(request), request.GET, now=now)
    if ids is None or not asked.form.is_valid():
        return HttpResponseBadRequest("That is not a list this page has shown.")
    seen = pages_runs.seen_again(actor_of(request), ids)
    new = 0
    if "at" not in request.GET and not asked.wanted.longest_waiting:
        runs = pages_runs.wanted_runs(actor_of(request), asked.wanted, now=now)
        new = pages_runs.newer_than(runs, seen[0] if seen else None)
    if same := unchanged(request, _version(pages_runs.version_of(seen), new)):
        return same
    region = _region(request, asked.wanted, pages_runs.rows_of(seen, now=now), new=new)
    return page_or_part(request, "runs/_run_rows.html", "runs/_run_rows.html", now=now, **region)


def _ids(request: HtmxRequest) -> list[UUID] | None:
    try:
        ids = [UUID(text) for text in request.GET.get("ids", "").split(".") if text]
    except ValueError:
        return None
    return ids if len(ids) <= pages_runs.PAGE else None


def _region(
    request: HtmxRequest, wanted: Wanted, rows: Sequence[Row], *, new: int
) -> dict[str, Any]:
    """What the refreshed part needs: its rows, its version, and where to ask again."""
    ids = ".".join(row.run.pk.hex for row in rows)
    return {
        "rows": rows,
        "table": RunTable(
            rows,
            by="why" if wanted.longest_waiting else "started",
            selectable=may(actor_of(request), Verb.OPERATE),
        ),
        "new": new,
        "longest": wanted.longest_waiting,
        "version": _version(pages_runs.version_of(row.run for row in rows), new),
        "rows_url": reverse("runs:run_rows") + link_to(request, ids=ids),
        "top_url": reverse("runs:run_list") + link_to(request, ids=None, at=None),
    }


def _version(rows: str, new: int) -> str:
    return f"{rows}-{new}"
