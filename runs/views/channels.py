"""Channels: the list with its routing, and the page of one with its deliveries."""

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from runs.queries import naming, pages_channels
from runs.rules.policy import Verb, may
from runs.web import HtmxRequest, actor_of, page_or_part, unchanged
from runs.web.channel_form import WouldForm


@require_safe
def index(request: HtmxRequest) -> HttpResponse:
    actor = actor_of(request)
    rows, tenants = pages_channels.rows_of(actor), naming.tenants_seen(actor)
    form = WouldForm(tenants=tenants, data=request.GET if "severity" in request.GET else None)
    asked = form.cleaned_data if form.is_valid() else None
    told = (
        pages_channels.would_be_told(
            rows,
            tenant_id=asked["tenant"],
            severity=asked["severity"],
            workflow=asked["workflow"].strip(),
        )
        if asked
        else None
    )
    shown = {
        "rows": rows,
        "several": len(tenants) > 1,
        "routing": pages_channels.routing(rows),
        "form": form,
        "told": told,
        "may_administer": may(actor, Verb.ADMINISTER),
    }
    return render(request, "runs/channel_list.html", shown, status=422 if form.errors else 200)


@require_safe
def show(request: HtmxRequest, channel_id: int) -> HttpResponse:
    row = pages_channels.one(actor_of(request), channel_id)
    if row is None:
        raise Http404
    sent = pages_channels.deliveries(row)
    version = pages_channels.version_of(row, sent)
    if same := unchanged(request, version):
        return same
    return page_or_part(
        request,
        "runs/channel_show.html",
        "runs/_channel.html",
        row=row,
        sent=sent,
        test=pages_channels.newest_test(sent),
        version=version,
        live_url=reverse("runs:channel_show", args=[channel_id]),
        may_administer=may(actor_of(request), Verb.ADMINISTER),
    )
