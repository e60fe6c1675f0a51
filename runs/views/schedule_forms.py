"""The form of a schedule: looked at, previewed, sent."""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from runs.definition import registry
from runs.forms import ScheduleForm
from runs.ledger import schedules
from runs.ledger.tenants import NoSuchTenant
from runs.queries import naming, pages_schedules
from runs.queries.schedules import wish_of
from runs.rules.schedules import ScheduleRefused
from runs.views import moving
from runs.web import HtmxRequest, actor_of, operator

PAGE = "runs/schedule_form.html"


@require_http_methods(["GET", "HEAD", "POST"])
@operator
def create(request: HtmxRequest) -> HttpResponse:
    owners = naming.tenants_seen(actor_of(request)).values()
    form = ScheduleForm(workflows=_schedulable(), tenants=owners, data=moving.sent(request))
    if request.method != "POST" or not form.is_valid() or "preview" in request.POST:
        return _shown(request, form)
    try:
        tenant = form.cleaned_data["tenant"]
        made = schedules.create(actor_of(request), form.wish, tenant=tenant)
    except ScheduleRefused as refused:
        form.explain(refused.errors)
        return _shown(request, form)
    except NoSuchTenant as nowhere:
        form.add_error(None, str(nowhere))
        return _shown(request, form)
    messages.success(request, f"{made.slug} is made.")
    return redirect("runs:schedule_show", made.pk)


@require_http_methods(["GET", "HEAD", "POST"])
@operator
def change(request: HtmxRequest, schedule_id: int) -> HttpResponse:
    row = pages_schedules.one_row(actor_of(request), schedule_id)
    if row is None:
        raise Http404
    known = sorted({*_schedulable(), row.schedule.workflow})
    was, revision = wish_of(row.schedule), row.schedule.revision
    form = ScheduleForm(
        workflows=known, tenants=(), was=was, revision=revision, data=moving.sent(request)
    )
    if request.method != "POST" or not form.is_valid() or "preview" in request.POST:
        return _shown(request, form, schedule=row.schedule)
    seen = form.cleaned_data["revision"]
    try:
        schedules.change(actor_of(request), schedule_id, form.wish, seen=seen)
    except ScheduleRefused as refused:
        form.explain(refused.errors)
        return _shown(request, form, schedule=row.schedule)
    except schedules.ScheduleChanged as changed:
        back = reverse("runs:schedule_show", args=[schedule_id])
        return render(request, "409.html", {"because": str(changed), "back_url": back}, status=409)
    messages.success(request, f"{row.schedule.slug} is changed.")
    return redirect("runs:schedule_show", schedule_id)


def _schedulable() -> list[str]:
    return sorted({cls.name for cls in registry.all_workflows() if cls.heartbeat is not None})


def _shown(request: HtmxRequest, form: ScheduleForm, **more: Any) -> HttpResponse:
    """With the next five times, where what was typed has any."""
    preview, asked = None, form.is_bound and not form.errors
    if asked:
        try:
            preview = pages_schedules.preview_of(form.wish)
        except ScheduleRefused as refused:
            form.explain(refused.errors)
    status = 422 if form.errors else 200
    return render(request, PAGE, {"form": form, "preview": preview, **more}, status=status)
