"""What a reader prefers, kept in cookies of their own: theme, zone, keys."""

from django.http import HttpResponse, HttpResponseRedirect
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from runs.web import THEMES, HtmxRequest

YEAR = 31_536_000
CHOICES = {"theme": THEMES, "time": ("utc", "local"), "keys": ("on", "off")}


@require_POST
def create(request: HtmxRequest) -> HttpResponse:
    where = request.POST.get("next", "/")
    safe = url_has_allowed_host_and_scheme(where, allowed_hosts={request.get_host()})
    response = HttpResponseRedirect(where if safe else "/")
    for name, allowed in CHOICES.items():
        if (value := request.POST.get(name)) in allowed:
            response.set_cookie(
                name, value, max_age=YEAR, samesite="Lax", secure=request.is_secure()
            )
    return response
