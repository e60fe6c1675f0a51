"""What a person does to a monitor: pause it, have it watched again, renew its address, remove it."""

from collections.abc import Callable
from functools import wraps

from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from monitors.forms import PauseForm
from monitors.ledger import monitors
from monitors.queries.pages_monitor import one_monitor
from monitors.rules.monitors import MonitorRefused
from runs.queries.clock import db_now
from runs.web import HtmxRequest, actor_of, number_in, operator

View = Callable[[HtmxRequest, int, int | None], HttpResponseBase]


def acting(view: View) -> View:
    """Another tenant's monitor is 404; one that was changed meanwhile is 409 with why."""

    @require_POST
    @operator
    @wraps(view)
    def answer(request: HtmxRequest, monitor_id: int) -> HttpResponseBase:
        if one_monitor(actor_of(request), monitor_id) is None:
            raise Http404
        seen = request.POST.get("expected_version", "")
        try:
            return view(request, monitor_id, number_in(seen))
        except monitors.NoSuchMonitor:
            raise Http404 from None
        except (monitors.MonitorChanged, monitors.MonitorIsOurs) as changed:
            back = reverse("monitors:monitor_show", args=[monitor_id])
            told = {"because": str(changed), "back_url": back}
            return render(request, "409.html", told, status=409)

    return answer


@acting
def pause(request: HtmxRequest, monitor_id: int, seen: int | None) -> HttpResponse:
    form = PauseForm(request.POST)
    if not form.is_valid():
        said = [str(each) for found in form.errors.values() for each in found]
        return _refused(request, monitor_id, " ".join(said))
    until, note = form.end(now=db_now()), form.cleaned_data["note"]
    try:
        monitors.pause(actor_of(request), monitor_id, because=note, until=until, seen=seen)
    except MonitorRefused as refused:
        return _refused(request, monitor_id, str(refused))
    messages.success(request, "It is paused: nothing is expected of it.")
    return redirect("monitors:monitor_show", monitor_id)


def _refused(request: HtmxRequest, monitor_id: int, because: str) -> HttpResponse:
    messages.error(request, f"It was not paused. {because}")
    return redirect("monitors:monitor_show", monitor_id)


@acting
def resume(request: HtmxRequest, monitor_id: int, seen: int | None) -> HttpResponse:
    monitors.resume(actor_of(request), monitor_id, seen=seen)
    messages.success(request, "It is watched again, with a whole period from now on.")
    return redirect("monitors:monitor_show", monitor_id)


@acting
def renew(request: HtmxRequest, monitor_id: int, seen: int | None) -> HttpResponse:
    monitors.renew_code(actor_of(request), monitor_id, seen=seen)
    messages.success(request, "It has another address; the old one answers “not found”.")
    return redirect("monitors:monitor_show", monitor_id)


@acting
def remove(request: HtmxRequest, monitor_id: int, seen: int | None) -> HttpResponse:
    removed = monitors.remove(actor_of(request), monitor_id, seen=seen)
    messages.success(request, f"{removed} is removed. Its address answers “not found”.")
    return redirect("monitors:monitor_list")
