"""What a reader prefers: shown, kept for the person, and set in the browser that they use now."""

from zoneinfo import available_timezones

from django.contrib import messages
from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_http_methods

from runs.ledger import preferences
from runs.rules.preferences import CHOICES, PLACE, chosen
from runs.web import HtmxRequest, actor_of
from runs.web.preference_form import PreferenceForm
from runs.web.preferred import choice, set_in


@require_http_methods(["GET", "HEAD", "POST"])
def create(request: HtmxRequest) -> HttpResponse:
    """The page of all of them; one alone is sent by the buttons of any page, and leads back there."""
    now = {name: choice(request, name) for name in CHOICES}
    now[PLACE] = request.COOKIES.get(PLACE, "")
    whole = request.method != "POST" or PLACE in request.POST
    form = PreferenceForm(data=request.POST if request.method == "POST" else None, now=now)
    if whole and not (request.method == "POST" and form.is_valid()):
        status = 200 if request.method != "POST" else 422
        return render(request, "preferences.html", {"form": form}, status=status)
    said = chosen(request.POST.dict(), zones=available_timezones())
    preferences.keep(actor_of(request), said)
    if "kept" in request.GET:
        # The script has set its cookie already; ours may come later than that of its next choice.
        return HttpResponse(status=204)
    if whole:
        messages.success(request, "Kept. Other browsers follow when you next sign in there.")
    response = HttpResponseRedirect(_back(request))
    set_in(response, said, secure=request.is_secure())
    return response


def _back(request: HtmxRequest) -> str:
    where = request.POST.get("next", "") or reverse("runs:preferences")
    safe = url_has_allowed_host_and_scheme(where, allowed_hosts={request.get_host()})
    return where if safe else "/"
