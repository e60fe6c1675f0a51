"""What a person does to a channel: a test is sent, it is paused, it is told again."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from runs.ledger import channels
from runs.rules.channels import ChannelRefused
from runs.web import HtmxRequest, actor_of, administrator
from runs.web.acting import acting

on_channel = acting(
    back="runs:channel_show",
    missing=channels.NoSuchChannel,
    changed=(channels.ChannelChanged, ChannelRefused),
    who=administrator,
)


@require_POST
@on_channel
def test(request: HtmxRequest, channel_id: int, _: int | None) -> HttpResponse:
    channels.put_test(actor_of(request), channel_id)
    return redirect("runs:channel_show", channel_id)


@require_POST
@on_channel
def pause(request: HtmxRequest, channel_id: int, seen: int | None) -> HttpResponse:
    because = request.POST.get("because", "").strip()[:2000]
    channels.pause(actor_of(request), channel_id, because=because, seen=seen)
    messages.success(
        request, "It is paused: nobody is told by it, and what waited goes on waiting."
    )
    return redirect("runs:channel_show", channel_id)


@require_POST
@on_channel
def resume(request: HtmxRequest, channel_id: int, seen: int | None) -> HttpResponse:
    channels.resume(actor_of(request), channel_id, seen=seen)
    messages.success(request, "It is told again, and tries at once what waited.")
    return redirect("runs:channel_show", channel_id)
