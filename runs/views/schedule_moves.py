"""What a person does to a schedule: pause it, go on, run it now, remove it."""

from collections.abc import Callable
from functools import wraps

from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from runs.ledger import firings, schedules
from runs.web import HtmxRequest, actor_of, number_in, operator

View = Callable[[HtmxRequest, int, int | None], HttpResponseBase]


def acting(view: View) -> View:
    """Another tenant's schedule is 404; one that was changed meanwhile is 409 with why."""

    @require_POST
    @operator
    @wraps(view)
    def answer(request: HtmxRequest, schedule_id: int) -> HttpResponseBase:
        seen = request.POST.get("seen", "")
        try:
            return view(request, schedule_id, number_in(seen))
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
