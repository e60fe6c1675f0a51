"""Schedules: the list, the page of one with its firings, and what a person does to it."""

from collections.abc import Callable
from functools import wraps

from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from runs.ledger import firings, schedules
from runs.queries import pages_schedules
from runs.rules.policy import Verb, may
from runs.web import HtmxRequest, actor_of, link_to, operator, page_or_part, position_in, unchanged

View = Callable[[HtmxRequest, int, int | None], HttpResponseBase]
LIST, LISTED = "runs/schedule_list.html", "runs/_schedules.html"


@require_safe
def index(request: HtmxRequest) -> HttpResponse:
    actor = actor_of(request)
    page = pages_schedules.schedules_page(actor)
    if same := unchanged(request, page.version):
        return same
    live_url, may_operate = reverse("runs:schedule_list"), may(actor, Verb.OPERATE)
    return page_or_part(
        request, LIST, LISTED, page=page, live_url=live_url, may_operate=may_operate
    )


@require_safe
def show(request: HtmxRequest, schedule_id: int) -> HttpResponse:
    actor = actor_of(request)
    row = pages_schedules.one_row(actor, schedule_id)
    if row is None:
        raise Http404
    fired = pages_schedules.firings_page(row.schedule, position_in(request))
    return page_or_part(
        request,
        "runs/schedule_show.html",
        "runs/schedule_show.html",
        row=row,
        firings=fired.rows,
        newer_url=link_to(request, at=fired.newer) if fired.newer else "",
        older_url=link_to(request, at=fired.older) if fired.older else "",
        may_operate=may(actor, Verb.OPERATE),
    )


def acting(view: View) -> View:
    """Another tenant's schedule is 404; one that was changed meanwhile is 409 with why."""

    @require_POST
    @operator
    @wraps(view)
    def answer(request: HtmxRequest, schedule_id: int) -> HttpResponseBase:
        seen = request.POST.get("seen", "")
        try:
            return view(request, schedule_id, int(seen) if seen.isdecimal() else None)
        except schedules.NoSuchSchedule:
            raise Http404 from None
        except schedules.ScheduleChanged as changed:
            back = reverse("runs:schedule_show", args=[schedule_id])
            told = {"because": str(changed), "back_url": back}
            return render(request, "409.html", told, status=409)

    return answer


@acting
def pause(request: HtmxRequest, schedule_id: int, seen: int | None) -> HttpResponse:
    because = request.POST.get("because", "").strip()[:2000]
    schedules.pause(actor_of(request), schedule_id, because=because, seen=seen)
    messages.success(request, "It is paused: each of its times is skipped with that reason.")
    return redirect("runs:schedule_show", schedule_id)


@acting
def resume(request: HtmxRequest, schedule_id: int, seen: int | None) -> HttpResponse:
    schedules.resume(actor_of(request), schedule_id, seen=seen)
    messages.success(request, "It starts runs again, from its next time on.")
    return redirect("runs:schedule_show", schedule_id)


@acting
def run_now(request: HtmxRequest, schedule_id: int, seen: int | None) -> HttpResponse:
    fired = firings.run_now(actor_of(request), schedule_id, seen=seen)
    told = f"Run now: {fired.state}. The next time has not moved."
    messages.info(request, f"{told} {fired.reason}" if fired.run_id is None else told)
    return redirect("runs:schedule_show", schedule_id)


@acting
def remove(request: HtmxRequest, schedule_id: int, seen: int | None) -> HttpResponse:
    because = request.POST.get("because", "").strip()[:2000]
    removed = schedules.remove(actor_of(request), schedule_id, because=because, seen=seen)
    messages.success(request, f"{removed.slug} is removed. Its runs go on, its firings are kept.")
    return redirect("runs:schedule_list")
