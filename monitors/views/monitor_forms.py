"""The form of a monitor: looked at, previewed, sent."""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from monitors.forms import MonitorForm
from monitors.ledger import monitors
from monitors.queries.pages_monitor import one_monitor
from monitors.queries.pages_previews import preview_of, wish_of
from monitors.rules.monitors import MonitorRefused
from runs.ledger.tenants import NoSuchTenant
from runs.queries import naming
from runs.queries.clock import db_now
from runs.web import HtmxRequest, actor_of, operator

PAGE = "monitors/monitor_form.html"


@require_http_methods(["GET", "HEAD", "POST"])
@operator
def create(request: HtmxRequest) -> HttpResponse:
    owners = naming.tenants_seen(actor_of(request)).values()
    form = MonitorForm(tenants=owners, data=_sent(request))
    if _only_looked_at(request, form):
        return _shown(request, form)
    try:
        tenant = form.cleaned_data["tenant"]
        made = monitors.create(actor_of(request), form.wish, tenant=tenant)
    except MonitorRefused as refused:
        form.explain(refused.errors)
        return _shown(request, form)
    except NoSuchTenant as nowhere:
        form.add_error(None, str(nowhere))
        return _shown(request, form)
    messages.success(request, f"{made} is made. It is watched from its first ping on.")
    return redirect("monitors:monitor_show", made.pk)


@require_http_methods(["GET", "HEAD", "POST"])
@operator
def change(request: HtmxRequest, monitor_id: int) -> HttpResponse:
    monitor = one_monitor(actor_of(request), monitor_id)
    if monitor is None:
        raise Http404
    was, revision = wish_of(monitor), monitor.revision
    form = MonitorForm(tenants=(), was=was, revision=revision, data=_sent(request))
    if _only_looked_at(request, form):
        return _shown(request, form, monitor=monitor)
    try:
        seen = form.cleaned_data["revision"]
        monitors.change(actor_of(request), monitor_id, form.wish, seen=seen)
    except MonitorRefused as refused:
        form.explain(refused.errors)
        return _shown(request, form, monitor=monitor)
    except (monitors.MonitorChanged, monitors.MonitorIsOurs) as changed:
        back = reverse("monitors:monitor_show", args=[monitor_id])
        return render(request, "409.html", {"because": str(changed), "back_url": back}, status=409)
    messages.success(request, f"{monitor} is changed.")
    return redirect("monitors:monitor_show", monitor_id)


def _sent(request: HtmxRequest) -> Any:
    return request.POST if request.method == "POST" else None


def _only_looked_at(request: HtmxRequest, form: MonitorForm) -> bool:
    return request.method != "POST" or not form.is_valid() or "preview" in request.POST


def _shown(request: HtmxRequest, form: MonitorForm, **more: Any) -> HttpResponse:
    """With the next five times, where what was typed has any."""
    preview = None
    if form.is_bound and not form.errors:
        try:
            preview = preview_of(form.wish, now=db_now())
        except MonitorRefused as refused:
            form.explain(refused.errors)
    status = 422 if form.errors else 200
    return render(request, PAGE, {"form": form, "preview": preview, **more}, status=status)
