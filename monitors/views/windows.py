"""Maintenance windows of a monitor: made and removed."""

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from monitors.forms import WindowForm
from monitors.ledger import windows
from monitors.ledger.monitors import NoSuchMonitor
from monitors.ledger.windows import NoSuchWindow, WindowRefused
from monitors.queries.pages_monitor import one_monitor
from runs.web import HtmxRequest, actor_of, operator


@require_http_methods(["GET", "HEAD", "POST"])
@operator
def create(request: HtmxRequest, monitor_id: int) -> HttpResponse:
    monitor = one_monitor(actor_of(request), monitor_id)
    if monitor is None:
        raise Http404
    form = WindowForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        try:
            wish = form.wish(monitor_id=monitor_id)
            windows.open_window(actor_of(request), wish, tenant=monitor.tenant.slug)
        except WindowRefused as refused:
            form.explain(refused.errors)
        except NoSuchMonitor:
            raise Http404 from None
        else:
            messages.success(request, "Nobody is called about it in that time.")
            return redirect("monitors:monitor_show", monitor_id)
    told = {"form": form, "monitor": monitor}
    status = 422 if form.errors else 200
    return render(request, "monitors/window_form.html", told, status=status)


@require_POST
@operator
def remove(request: HtmxRequest, monitor_id: int, window_id: int) -> HttpResponse:
    try:
        windows.remove(actor_of(request), window_id)
    except NoSuchWindow:
        raise Http404 from None
    messages.success(request, "The window is over: what is wrong is told from now on.")
    return redirect("monitors:monitor_show", monitor_id)
