"""What a person does to a monitor: pause it, mute it, have it watched again, renew its address, remove it."""

from django.contrib import messages
from django.forms import Form
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from monitors.forms import MuteForm, PauseForm
from monitors.ledger import monitors, windows
from monitors.ledger.windows import WindowRefused
from monitors.queries.pages_monitor import one_monitor
from monitors.rules.monitors import MonitorRefused
from runs.queries.clock import db_now
from runs.web import HtmxRequest, actor_of
from runs.web.acting import acting

on_monitor = acting(
    back="monitors:monitor_show",
    missing=monitors.NoSuchMonitor,
    changed=(monitors.MonitorChanged, monitors.MonitorIsOurs),
)


@require_POST
@on_monitor
def pause(request: HtmxRequest, monitor_id: int, seen: int | None) -> HttpResponse:
    form = PauseForm(request.POST)
    if not form.is_valid():
        return refused(request, monitor_id, f"It was not paused. {_errors(form)}")
    until, note = form.end(now=db_now()), form.cleaned_data["note"]
    try:
        monitors.pause(actor_of(request), monitor_id, because=note, until=until, seen=seen)
    except MonitorRefused as wrong:
        return refused(request, monitor_id, f"It was not paused. {wrong}")
    messages.success(request, "It is paused: nothing is expected of it.")
    return redirect("monitors:monitor_show", monitor_id)


@require_POST
@on_monitor
def mute(request: HtmxRequest, monitor_id: int, _: int | None) -> HttpResponse:
    form = MuteForm(request.POST)
    if not form.is_valid():
        return refused(request, monitor_id, f"It was not muted. {_errors(form)}")
    until, note = form.until(now=db_now()), form.cleaned_data["note"]
    try:
        windows.mute(actor_of(request), monitor_id, until=until, because=note)
    except WindowRefused as wrong:
        return refused(request, monitor_id, f"It was not muted. {wrong}")
    messages.success(request, "It is muted: what is so is kept and shown, and nobody is called.")
    return redirect("monitors:monitor_show", monitor_id)


@require_POST
@on_monitor
def unmute(request: HtmxRequest, monitor_id: int, _: int | None) -> HttpResponse:
    windows.unmute(actor_of(request), monitor_id)
    messages.success(request, "It is not muted any more: what is wrong is told from now on.")
    return redirect("monitors:monitor_show", monitor_id)


def _errors(form: Form) -> str:
    return " ".join(str(each) for found in form.errors.values() for each in found)


def refused(request: HtmxRequest, monitor_id: int, because: str) -> HttpResponse:
    """Another tenant's is not told apart from none."""
    if one_monitor(actor_of(request), monitor_id) is None:
        raise Http404
    messages.error(request, because)
    return redirect("monitors:monitor_show", monitor_id)


@require_POST
@on_monitor
def resume(request: HtmxRequest, monitor_id: int, seen: int | None) -> HttpResponse:
    monitors.resume(actor_of(request), monitor_id, seen=seen)
    messages.success(request, "It is watched again, with a whole period from now on.")
    return redirect("monitors:monitor_show", monitor_id)


@require_POST
@on_monitor
def renew(request: HtmxRequest, monitor_id: int, seen: int | None) -> HttpResponse:
    monitors.renew_code(actor_of(request), monitor_id, seen=seen)
    messages.success(request, "It has another address; the old one answers “not found”.")
    return redirect("monitors:monitor_show", monitor_id)


@require_POST
@on_monitor
def remove(request: HtmxRequest, monitor_id: int, seen: int | None) -> HttpResponse:
    removed = monitors.remove(actor_of(request), monitor_id, seen=seen)
    messages.success(request, f"{removed} is removed. Its address answers “not found”.")
    return redirect("monitors:monitor_list")
