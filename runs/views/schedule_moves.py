"""What a person does to a schedule: pause it, go on, run it now, remove it."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from runs.ledger import firings, schedules
from runs.web import HtmxRequest, actor_of
from runs.web.acting import acting

on_schedule = acting(
    back="runs:schedule_show",
    missing=schedules.NoSuchSchedule,
    changed=schedules.ScheduleChanged,
)


@require_POST
@on_schedule
def pause(request: HtmxRequest, schedule_id: int, seen: int | None) -> HttpResponse:
    because = request.POST.get("because", "").strip()[:2000]
    schedules.pause(actor_of(request), schedule_id, because=because, seen=seen)
    messages.success(request, "It is paused: each of its times is skipped with that reason.")
    return redirect("runs:schedule_show", schedule_id)


@require_POST
@on_schedule
def resume(request: HtmxRequest, schedule_id: int, seen: int | None) -> HttpResponse:
    schedules.resume(actor_of(request), schedule_id, seen=seen)
    messages.success(request, "It starts runs again, from its next time on.")
    return redirect("runs:schedule_show", schedule_id)


@require_POST
@on_schedule
def run_now(request: HtmxRequest, schedule_id: int, seen: int | None) -> HttpResponse:
    fired = firings.run_now(actor_of(request), schedule_id, seen=seen)
    told = f"Run now: {fired.state}. The next time has not moved."
    messages.info(request, f"{told} {fired.reason}" if fired.run_id is None else told)
    return redirect("runs:schedule_show", schedule_id)


@require_POST
@on_schedule
def remove(request: HtmxRequest, schedule_id: int, seen: int | None) -> HttpResponse:
    because = request.POST.get("because", "").strip()[:2000]
    removed = schedules.remove(actor_of(request), schedule_id, because=because, seen=seen)
    messages.success(request, f"{removed.slug} is removed. Its runs go on, its firings are kept.")
    return redirect("runs:schedule_list")
