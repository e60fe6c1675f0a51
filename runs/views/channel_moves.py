"""What a person does to a channel: a test is sent, it is paused, it is told again."""

from collections.abc import Callable
from functools import wraps

from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from runs.ledger import channels
from runs.rules.channels import ChannelRefused
from runs.web import HtmxRequest, actor_of, administrator, number_in

View = Callable[[HtmxRequest, int, int | None], HttpResponseBase]


def acting(view: View) -> View:
    """Another tenant's channel is 404; one that was changed meanwhile is 409 with why."""

    @administrator
    @wraps(view)
    def answer(request: HtmxRequest, channel_id: int) -> HttpResponseBase:
        seen = request.POST.get("seen", "")
        try:
            return view(request, channel_id, number_in(seen))
        except channels.NoSuchChannel:
            raise Http404 from None
        except (channels.ChannelChanged, ChannelRefused) as changed:
            back = reverse("runs:channel_show", args=[channel_id])
            told = {"because": str(changed), "back_url": back}
            return render(request, "409.html", told, status=409)

    return answer


@require_POST
@acting
def test(request: HtmxRequest, channel_id: int, _: int | None) -> HttpResponse:
    channels.put_test(actor_of(request), channel_id)
    return redirect("runs:channel_show", channel_id)


@require_POST
@acting
def pause(request: HtmxRequest, channel_id: int, seen: int | None) -> HttpResponse:
    because = request.POST.get("because", "").strip()[:2000]
    channels.pause(actor_of(request), channel_id, because=because, seen=seen)
    messages.success(
        request, "It is paused: nobody is told by it, and what waited goes on waiting."
    )
    return redirect("runs:channel_show", channel_id)


@require_POST
@acting
def resume(request: HtmxRequest, channel_id: int, seen: int | None) -> HttpResponse:
    channels.resume(actor_of(request), channel_id, seen=seen)
    messages.success(request, "It is told again, and tries at once what waited.")
    return redirect("runs:channel_show", channel_id)
