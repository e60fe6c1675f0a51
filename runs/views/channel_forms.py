"""A channel made or changed; a secret is shown in the one answer that made it."""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from runs.conf import channel_schemes
from runs.ledger import channels
from runs.ledger.tenants import NoSuchTenant
from runs.queries import naming, pages_channels
from runs.rules.channels import ChannelRefused
from runs.views import moving
from runs.views.channel_moves import on_channel
from runs.web import HtmxRequest, actor_of, administrator
from runs.web.channel_form import ChannelForm

looked_at = require_http_methods(["GET", "HEAD", "POST"])


@never_cache
@looked_at
@administrator
def create(request: HtmxRequest) -> HttpResponse:
    actor = actor_of(request)
    tenants = naming.tenants_seen(actor).values()
    form = ChannelForm(tenants=tenants, schemes=channel_schemes(), data=moving.sent(request))
    if request.method != "POST" or not form.is_valid():
        return _shown(request, form)
    try:
        made = channels.create(actor, form.wish, tenant=form.cleaned_data["tenant"])
    except ChannelRefused as refused:
        form.explain(refused.errors)
        return _shown(request, form)
    except NoSuchTenant as nowhere:
        form.add_error(None, str(nowhere))
        return _shown(request, form)
    if made.secret:
        return render(request, "runs/channel_secret.html", {"made": made}, status=201)
    messages.success(
        request, f"{made.channel.name} is made. Send a test to see whether it arrives."
    )
    return redirect("runs:channel_show", made.channel.pk)


@looked_at
@on_channel
def change(request: HtmxRequest, channel_id: int, _: int | None) -> HttpResponse:
    row = pages_channels.one(actor_of(request), channel_id)
    if row is None:
        raise Http404
    form = ChannelForm(
        tenants=(), schemes=channel_schemes(), was=row.channel, data=moving.sent(request)
    )
    if request.method != "POST" or not form.is_valid():
        return _shown(request, form, row=row)
    try:
        channels.change(
            actor_of(request), channel_id, form.wish, seen=form.cleaned_data["revision"]
        )
    except ChannelRefused as refused:
        form.explain(refused.errors)
        return _shown(request, form, row=row)
    messages.success(request, f"{form.wish.name} is changed.")
    return redirect("runs:channel_show", channel_id)


def _shown(request: HtmxRequest, form: ChannelForm, **more: Any) -> HttpResponse:
    told = {"form": form, "schemes": sorted(channel_schemes()), **more}
    return render(request, "runs/channel_form.html", told, status=422 if form.errors else 200)
